import Cryptography

/// An opened answer together with what its device authentication must cover. Only a protocol makes one, from its own
/// transcript.
public struct PresentedResponse: ~Copyable, Sendable {
  let response: DeviceResponse
  let transcript: SessionTranscript
  let macPolicy: MacPolicy
  let recognizesAppleMocks: Bool
  /// Whether the wallet answers age questions with `age_in_years` by itself.
  let fallsBackToAgeInYears: Bool
  let maxDocuments: Int?
  /// Whether the data of a simulator's answer are shown beside its refusal.
  let showsSimulatedAnswers: Bool

  /// Whether a device MAC can be checked (ISO/IEC 18013-5:2021, 9.1.3.5).
  public enum MacPolicy: Sendable {
    case notAllowed
    /// The private key of the reader's ephemeral pair, which the MAC key derives from.
    case allowed(readerKey: PrivateKey)
  }

  package init(
    response: DeviceResponse, transcript: SessionTranscript, macPolicy: MacPolicy, recognizesAppleMocks: Bool = false,
    fallsBackToAgeInYears: Bool = false, maxDocuments: Int? = nil, showsSimulatedAnswers: Bool = false
  ) {
    self.response = response
    self.transcript = transcript
    self.macPolicy = macPolicy
    self.recognizesAppleMocks = recognizesAppleMocks
    self.fallsBackToAgeInYears = fallsBackToAgeInYears
    self.maxDocuments = maxDocuments
    self.showsSimulatedAnswers = showsSimulatedAnswers
  }
}
