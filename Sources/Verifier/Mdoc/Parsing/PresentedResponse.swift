import Base
import CBOR
import Cryptography

/// An opened answer together with what its device authentication must cover. Only a protocol makes one, from its own
/// transcript.
public struct PresentedResponse: ~Copyable, Sendable {
  /// The DeviceResponses. There is one, or one for each query if every document was asked for by a query of its own.
  let parts: [Part]
  let transcript: SessionTranscript
  let macPolicy: MacPolicy
  /// Transcripts of other sessions. If a device did not sign for ours, they show which session it signed for. They only
  /// explain a refusal: nothing is accepted by them.
  let alternatives: [AlternativeTranscript]
  let recognizesAppleMocks: Bool
  /// Whether the wallet answers age questions with `age_in_years` by itself.
  let fallsBackToAgeInYears: Bool
  let maxDocuments: Int?
  /// Whether the data of a simulator's answer are shown beside its refusal.
  let showsSimulatedAnswers: Bool
  /// Whether what came around the responses has something that was not read.
  let leavesUnread: Bool

  /// Whether a device MAC can be checked (ISO/IEC 18013-5:2021, 9.1.3.5).
  public enum MacPolicy: Sendable {
    case notAllowed
    /// The private key of the reader's ephemeral pair, which the MAC key derives from.
    case allowed(readerKey: PrivateKey)
  }

  /// One DeviceResponse.
  package struct Part: Sendable {
    let response: DeviceResponse
    /// The query that it answers; nil if it answers the whole request.
    let query: Query?

    package init(_ response: DeviceResponse, query: Query? = nil) {
      self.response = response
      self.query = query
    }
  }

  /// A query for one document, with an id of its own in the protocol.
  package struct Query: Sendable {
    /// The index of its document in the request.
    package let index: Int
    let docType: String
    let kind: DocumentKind

    package init(_ index: Int, docType: String, kind: DocumentKind) {
      self.index = index
      self.docType = docType
      self.kind = kind
    }
  }

  /// A document with its issuer's signature, or a proof about one.
  package enum DocumentKind: Sendable {
    case plain, proof
  }

  package init(
    parts: [Part], transcript: SessionTranscript, macPolicy: MacPolicy, alternatives: [AlternativeTranscript] = [],
    recognizesAppleMocks: Bool = false, fallsBackToAgeInYears: Bool = false, maxDocuments: Int? = nil,
    showsSimulatedAnswers: Bool = false, leavesUnread: Bool = false
  ) {
    self.parts = parts
    self.leavesUnread = leavesUnread
    self.transcript = transcript
    self.macPolicy = macPolicy
    self.alternatives = alternatives
    self.recognizesAppleMocks = recognizesAppleMocks
    self.fallsBackToAgeInYears = fallsBackToAgeInYears
    self.maxDocuments = maxDocuments
    self.showsSimulatedAnswers = showsSimulatedAnswers
  }

  package init(
    response: DeviceResponse, transcript: SessionTranscript, macPolicy: MacPolicy,
    alternatives: [AlternativeTranscript] = [], recognizesAppleMocks: Bool = false,
    fallsBackToAgeInYears: Bool = false, maxDocuments: Int? = nil, showsSimulatedAnswers: Bool = false,
    leavesUnread: Bool = false
  ) {
    self.init(
      parts: [Part(response)], transcript: transcript, macPolicy: macPolicy, alternatives: alternatives,
      recognizesAppleMocks: recognizesAppleMocks, fallsBackToAgeInYears: fallsBackToAgeInYears,
      maxDocuments: maxDocuments, showsSimulatedAnswers: showsSimulatedAnswers, leavesUnread: leavesUnread)
  }
}

/// A transcript that a wallet may have used by mistake, with how it differs from ours: `another configured origin`.
///
/// It explains a refusal in the report and never accepts anything.
public struct AlternativeTranscript: Sendable {
  /// A phrase that completes "the device signed for …". It names configuration, never a nonce or a key.
  public let difference: String
  private let makeTranscript: @Sendable () -> SessionTranscript

  /// The transcript, made only when it is read: a correct answer needs none of them.
  public var transcript: SessionTranscript { makeTranscript() }

  package init(_ difference: String, _ transcript: @autoclosure @escaping @Sendable () -> SessionTranscript) {
    self.difference = difference
    makeTranscript = transcript
  }
}

extension Array<AlternativeTranscript> {
  /// How the first alternative that fits differs from ours; nil if none fits.
  package func difference(where fits: (SessionTranscript) -> Bool) -> String? {
    first { fits($0.transcript) }?.difference
  }
}

/// The exact encoded bytes of a SessionTranscript (ISO/IEC 18013-5:2021, 9.1.5.1), made by us and never taken from
/// the answer that it authenticates.
public struct SessionTranscript: Sendable, Hashable {
  public let encoded: [UInt8]

  /// Bytes that must be an array of three items: device engagement, reader key (or null), handover.
  public init(encoded: [UInt8]) throws(MdocParseError) {
    do {
      guard try CBORItem(parsing: encoded).count == 3, encoded.first.map({ $0 >> 5 }) == 4 else {
        throw MdocParseError(.responseMalformed)
      }
    } catch let error as CBORError {
      throw MdocParseError(error)
    } catch {
      throw MdocParseError(.responseMalformed)
    }
    self.encoded = encoded
  }

  /// A transcript that one of our own protocols has just written.
  package init(written value: CBORValue) { encoded = value.encoded() }

  /// SessionTranscriptBytes: `#6.24(bstr .cbor SessionTranscript)`.
  public var taggedBytes: [UInt8] { CBORValue.tagged(24, .bytes(encoded)).encoded() }
}

/// It holds the session's nonce, which neither logs nor error messages may show.
extension SessionTranscript: CustomStringConvertible, CustomReflectable {
  public var description: String { "SessionTranscript(\(encoded.count) bytes)" }
  public var customMirror: Mirror { Mirror(self, children: []) }
}
