import Base

/// Limits on requests to the server, and on the data that it keeps.
extension Limits {
  /// Bytes of an HTTP request body: a response in base64 inside a JWE, which is base64 again, with a margin.
  package static let requestBodyBytes = (responseBytes * 16 / 9) + (64 << 10)
  /// JSON values in a request body: a session of 128 elements has some hundreds.
  package static let requestJSONValues = 1 << 14
  /// Characters of the pointer to a fault. The caller's own names are part of the pointer.
  package static let pointerCharacters = 200
  /// Bytes of all request bodies in memory, with their decoded forms.
  package static let bufferedBodyBytes = 64 << 20
  /// Bytes of a reply that a rate counts as another request. The rate of an address counts the bytes of bodies in the
  /// same way.
  package static let bytesPerRequest = 64 << 10
  /// Nanoseconds of handling that a rate counts as another request. A typical request takes a tenth of this time.
  package static let nanosecondsPerRequest: Int64 = 10_000_000
  /// Fields of a form, and bytes of a field name.
  package static let formFields = 32
  package static let formNameBytes = 256
  /// API keys, sessions and addresses whose rates are remembered: about 60 bytes each. The oldest are forgotten first.
  package static let limitedKeys = 4_096
  package static let limitedSessions = 32_768
  package static let limitedAddresses = 65_536
  package static let requestHeaderBytes = 16 << 10
  /// Bytes of a `wallet_nonce`, which a request object repeats.
  package static let walletNonceBytes = 512
  /// Bytes of the body of a wallet's request for its request object: `wallet_metadata` in percent-encoding.
  package static let walletRequestBytes = 64 << 10
  /// Relying parties on the status page, and dead letters that the page shows for each.
  package static let statusParties = 20
  package static let statusLetters = 5

  /// Characters of a session's `purpose`.
  package static let purposeCharacters = 200
  /// Languages of a purpose.
  package static let translations = 16
  /// Seconds for which one request of a page may wait for the session's end.
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
  /// Timeout of one attempt in seconds, and maximum number of bytes to read of its reply.
  package static let deliverySeconds: Int64 = 10
  package static let deliveryReplyBytes = 16 << 10
  /// Seconds between the first two attempts; maximum seconds between later attempts; seconds until a delivery becomes a
  /// dead letter.
  package static let shortestDeliveryPause: Int64 = 5
  package static let longestDeliveryPause: Int64 = 6 * 3_600
  package static let deliverySpan: Int64 = 3 * 86_400
  /// Seconds after which a delivery without attempts also becomes a dead letter.
  package static let deliveryAbandonment: Int64 = deliverySpan + 86_400
  /// Endpoints of one relying party, characters of an endpoint's id, secrets of one endpoint.
  package static let webhooks = 8
  package static let webhookIDCharacters = 28
  package static let webhookSecrets = 4
  /// Bytes of a private key in a proximity response, in PEM or as a scalar.
  package static let submittedKeyBytes = 4 << 10
  /// Characters of a part of a handover, such as an address.
  package static let handoverCharacters = 4 << 10
  /// Documents and elements of one session's request.
  package static let requestedDocuments = 8
  package static let requestedElements = 128
  package static let elementAlternatives = 4
  /// age_over_NN requests in one document request (ISO/IEC 18013-5, 7.2.5).
  package static let ageRequests = 2
  /// Refused requests of one code that get a log line in one second. Further requests are only counted.
  package static let refusalLines = 10
  /// Members of a session's `metadata`, and Unicode scalars of a name or a value.
  package static let metadataMembers = 32
  package static let metadataValueCharacters = 512
  /// Sessions on one page of a list: default and maximum.
  package static let pageSize = 20
  package static let largestPage = 100
  /// Bytes of one page of a list, both as it is read and as it is written. The page ends with the entry that reaches
  /// the limit.
  package static let pageBytes = 1 << 20
  /// Maximum number of lists that one relying party reads concurrently, and of its waiting reads. Further reads are
  /// refused.
  package static let lists = 2
  package static let waitingLists = 32
  /// Seconds for reading one list from the store.
  package static let listSeconds: Int64 = 2
  /// Bytes of a stored session at its creation: the requests, one for each protocol, and the relying party's request.
  package static let sessionBytes = 256 << 10
  /// The default quota: open sessions, bytes of sessions, bytes of kept replies; and seconds until a retry.
  package static let openSessions: Int64 = 50_000
  package static let storedBytes: Int64 = 8 << 30
  package static let idempotencyBytes: Int64 = 2 << 30
  package static let quotaRetry: Int64 = 60
  package static let largestAuditPage = 1000
  /// Bytes of a sealed bundle of evidence: the response in base64, and the lists for its revocation status.
  package static let evidenceBytes = 8 << 20
  /// The maximum configurable clock skew in seconds.
  package static let longestClockSkew: Int64 = 600
}
