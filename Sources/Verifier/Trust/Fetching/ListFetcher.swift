import Base

/// Where published lists come from: revocation lists, status lists, VICALs, lists of trusted entities.
///
/// A fetcher brings bytes and judges nothing in them. It keeps nothing either: whoever asks decides how long a list is
/// good and that one address is asked once at a time.
public protocol ListFetcher: Sendable {
  /// Ends within the rules' time limit, and at once where its task is cancelled.
  func fetch(_ address: String, allowing rules: FetchRules) async throws(FetchError) -> FetchedList
}

/// What a publisher sent. Every member is as unverified as the bytes.
public struct FetchedList: Sendable, Hashable {
  public let bytes: [UInt8]
  /// `Content-Type` in lower case, without parameters.
  public let mediaType: String?
  /// How long the publisher's server would have it kept, in seconds, and until when. Only for the report: a list's own
  /// signed lifetime is what counts.
  public let maxAge: Int64?
  public let expires: Timestamp?

  public init(bytes: [UInt8], mediaType: String? = nil, maxAge: Int64? = nil, expires: Timestamp? = nil) {
    self.bytes = bytes
    self.mediaType = mediaType
    self.maxAge = maxAge
    self.expires = expires
  }
}

/// Why there is no list. The reasons are fixed sentences: they never carry any part of the address, which may name a
/// person or hold a password.
public enum FetchError: Error, Sendable, Hashable {
  /// Nobody may be asked there, or be followed to there (`revocation.source_not_allowed`, `list.source_not_allowed`).
  case notAllowed(String)
  /// More bytes than the rules allow, declared or sent.
  case tooLarge
  /// No complete answer came.
  case unavailable(String)
}
