import Base

/// Limits on requests to the server, and on the data that it keeps.
extension Limits {
  /// Maximum bytes of an HTTP request body, with a margin. A response is base64-encoded twice: by itself, and inside a
  /// JWE.
  package static let requestBodyBytes = (responseBytes * 16 / 9) + (64 << 10)
  /// Maximum number of JSON values in a request body. A session with 128 elements has a few hundred.
  package static let requestJSONValues = 1 << 14
  /// Maximum number of characters in the pointer to a fault. The caller's own names are part of the pointer.
  package static let pointerCharacters = 200
  /// Bytes of all request bodies in memory, with their decoded forms.
  package static let bufferedBodyBytes = 64 << 20
  /// The number of reply bytes that a rate limit counts as another request. An address's rate limit counts the bytes of
  /// request bodies in the same way.
  package static let bytesPerRequest = 64 << 10
  /// The handling time, in nanoseconds, that a rate limit counts as another request. A typical request takes a tenth of
  /// this time.
  package static let nanosecondsPerRequest: Int64 = 10_000_000
  /// Maximum number of form fields, and maximum bytes of a field name.
  package static let formFields = 32
  package static let formNameBytes = 256
  /// Maximum number of API keys, sessions and addresses with a stored rate. Each needs about 60 bytes. The oldest are
  /// forgotten first.
  package static let limitedKeys = 4_096
  package static let limitedSessions = 32_768
  package static let limitedAddresses = 65_536
  package static let requestHeaderBytes = 16 << 10
  /// Maximum bytes of a `wallet_nonce`. The request object repeats the nonce.
  package static let walletNonceBytes = 512
  /// Maximum bytes of the body with which a wallet requests its request object: `wallet_metadata` in percent-encoding.
  package static let walletRequestBytes = 64 << 10
  /// Maximum number of relying parties on the status page, and of dead letters that the page shows for each party.
  package static let statusParties = 20
  package static let statusLetters = 5

  /// Maximum number of characters in a session's `purpose`.
  package static let purposeCharacters = 200
  /// Maximum number of languages of a purpose.
  package static let translations = 16
  /// Seconds that one request from a page may wait for the session's end.
  package static let pageWait: ClosedRange<Int64> = 1...25

  /// Seconds for which a session accepts a response: default and range.
  package static let sessionLifetime: Int64 = 600
  package static let sessionLifetimeRange: ClosedRange<Int64> = 30...3600
  /// Seconds after which a session that is still `processing` counts as interrupted.
  package static let processingTimeout: Int64 = 30
  /// Seconds for which a sealed result can be read.
  package static let resultLifetime: Int64 = 600
  /// Seconds for which a reply is kept under its Idempotency-Key.
  package static let idempotencyLifetime: Int64 = 86_400
  /// Seconds for which ended sessions and reports are kept.
  package static let sessionRetention: Int64 = 30 * 86_400

  /// Days for which a relying party may keep a value: range, and default maximum.
  package static let retainDays: ClosedRange<Int64> = 1...3_650
  package static let longestRetainDays: Int64 = 365

  /// Seconds for which events and their deliveries are kept.
  package static let eventRetention: Int64 = 30 * 86_400
  /// Seconds for which a delivery stays claimed: longer than any attempt takes.
  package static let deliveryLease: Int64 = 60
  /// The timeout of one delivery attempt in seconds, and the maximum number of reply bytes to read.
  package static let deliverySeconds: Int64 = 10
  package static let deliveryReplyBytes = 16 << 10
  /// Seconds between the first two delivery attempts, maximum seconds between later attempts, and seconds until a
  /// delivery becomes a dead letter.
  package static let shortestDeliveryPause: Int64 = 5
  package static let longestDeliveryPause: Int64 = 6 * 3_600
  package static let deliverySpan: Int64 = 3 * 86_400
  /// Seconds after which a delivery without attempts also becomes a dead letter.
  package static let deliveryAbandonment: Int64 = deliverySpan + 86_400
  /// Maximum number of a relying party's endpoints, of characters in an endpoint's id, and of an endpoint's secrets.
  package static let webhooks = 8
  package static let webhookIDCharacters = 28
  package static let webhookSecrets = 4
  /// Maximum bytes of a private key in a proximity response, in PEM or as a scalar.
  package static let submittedKeyBytes = 4 << 10
  /// Maximum number of characters in one part of a handover, such as an address.
  package static let handoverCharacters = 4 << 10
  /// Maximum number of documents and of elements in one session's request.
  package static let requestedDocuments = 8
  package static let requestedElements = 128
  package static let elementAlternatives = 4
  /// Maximum number of age_over_NN requests in one document request (ISO/IEC 18013-5, 7.2.5).
  package static let ageRequests = 2
  /// Maximum number of refused requests with the same code that the server logs in one second. Further requests are
  /// only counted.
  package static let refusalLines = 10
  /// Maximum number of members in a session's `metadata`, and of Unicode scalars in a name or a value.
  package static let metadataMembers = 32
  package static let metadataValueCharacters = 512
  /// Sessions on one page of a list: default and maximum.
  package static let pageSize = 20
  package static let largestPage = 100
  /// Maximum bytes of one page of a list. The limit applies when the page is read and when it is written. The page ends
  /// with the entry that reaches the limit.
  package static let pageBytes = 1 << 20
  /// Maximum number of concurrent list reads for one relying party, and of its waiting reads. Further reads are
  /// refused.
  package static let lists = 2
  package static let waitingLists = 32
  /// Seconds for reading one list from the store.
  package static let listSeconds: Int64 = 2
  /// Maximum bytes of a stored session at its creation. A session contains one request for each protocol, and the
  /// relying party's request.
  package static let sessionBytes = 256 << 10
  /// A relying party's default quota of open sessions.
  package static let openSessions: Int64 = 50_000
  /// A relying party's default quota of bytes of stored sessions.
  package static let storedBytes: Int64 = 8 << 30
  /// A relying party's default quota of bytes of replies that are stored for an `Idempotency-Key`.
  package static let idempotencyBytes: Int64 = 2 << 30
  /// `Retry-After` in seconds when a quota is exceeded.
  package static let quotaRetry: Int64 = 60
  package static let largestAuditPage = 1000
  /// Maximum bytes of a sealed evidence bundle. The bundle contains the response in base64, and the lists for its
  /// revocation status.
  package static let evidenceBytes = 8 << 20
  /// The maximum configurable clock skew in seconds.
  package static let longestClockSkew: Int64 = 600
}
