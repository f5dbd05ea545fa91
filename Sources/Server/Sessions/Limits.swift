import Base

/// The bounds of what others ask of the server, and of what it keeps.
extension Limits {
  /// Bytes of one HTTP request body: an answer in base64 inside a JWE, which is base64 again, with room to spare. No
  /// proof is made much smaller by compression.
  package static let requestBodyBytes = (responseBytes * 16 / 9) + (64 << 10)
  /// JSON values in one request body, which needs far fewer than a list: a session of 128 elements has some hundreds.
  package static let requestJSONValues = 1 << 14
  /// Characters of the pointer to a fault, which has the caller's own names.
  package static let pointerCharacters = 200
  /// Bytes of all request bodies that are held at one time, with what is made of them.
  package static let bufferedBodyBytes = 64 << 20
  /// Bytes of a reply that a rate counts as one more request; of a body too, for the rate of an address.
  package static let bytesPerRequest = 64 << 10
  /// Nanoseconds of handling that a rate counts as one more request. The usual request takes a tenth of them.
  package static let nanosecondsPerRequest: Int64 = 10_000_000
  /// Fields of a form, and bytes of a field's name.
  package static let formFields = 32
  package static let formNameBytes = 256
  /// API keys, sessions and addresses whose rates are remembered at one time, some 60 bytes each; of more, those that
  /// asked longest ago are forgotten.
  package static let limitedKeys = 4_096
  package static let limitedSessions = 32_768
  package static let limitedAddresses = 65_536
  /// Bytes of an HTTP request's headers.
  package static let requestHeaderBytes = 16 << 10

  /// Bytes of a `wallet_nonce` that is repeated in a request object.
  package static let walletNonceBytes = 512

  /// Bytes of a body by which a wallet asks for its request: `wallet_metadata` in percent-encoding.
  package static let walletRequestBytes = 64 << 10

  /// Relying parties whose dead letters the status page lists, and dead letters of each.
  package static let statusParties = 20
  package static let statusLetters = 5

  /// Characters of the reason for which a relying party asks.
  package static let purposeCharacters = 200
  /// Seconds that a page may wait for its session's end in one request.
  package static let pageWait: ClosedRange<Int64> = 1...25

  /// Seconds that a session may wait for its answer: default and range.
  package static let sessionLifetime: Int64 = 600
  package static let sessionLifetimeRange: ClosedRange<Int64> = 30...3600
  /// Seconds after which a session still `processing` reads as interrupted.
  package static let processingTimeout: Int64 = 30
  /// Seconds that a sealed result can be read.
  package static let resultLifetime: Int64 = 600
  /// Seconds that a reply is kept under its Idempotency-Key.
  package static let idempotencyLifetime: Int64 = 86_400
  /// Days that ended sessions and reports are kept.
  package static let sessionRetention: Int64 = 30 * 86_400

  /// Days for which a relying party may say that it keeps a value, and how many it may unless configured otherwise.
  package static let retainDays: ClosedRange<Int64> = 1...3_650
  package static let longestRetainDays: Int64 = 365

  /// Seconds that events and their deliveries are kept.
  package static let eventRetention: Int64 = 30 * 86_400
  /// Seconds for which a claimed delivery is nobody else's: longer than an attempt takes.
  package static let deliveryLease: Int64 = 60
  /// Seconds that one attempt may take, and bytes of its answer that are read.
  package static let deliverySeconds: Int64 = 10
  package static let deliveryAnswerBytes = 16 << 10
  /// Seconds between the first attempts, at most between the last, and from the first to the last: then it is a dead
  /// letter.
  package static let shortestDeliveryPause: Int64 = 5
  package static let longestDeliveryPause: Int64 = 6 * 3_600
  package static let deliverySpan: Int64 = 3 * 86_400
  /// Seconds after which a delivery that nobody has tried for is a dead letter too.
  package static let deliveryAbandonment: Int64 = deliverySpan + 86_400
  /// Endpoints of one relying party, characters of an endpoint's id, secrets of one endpoint.
  package static let webhooks = 8
  package static let webhookIDCharacters = 28
  package static let webhookSecrets = 4

  /// Bytes of a private key that is submitted with a proximity answer, in PEM or as a scalar.
  package static let submittedKeyBytes = 4 << 10

  /// Documents and elements that one session may ask for.
  package static let requestedDocuments = 8
  package static let requestedElements = 128
  /// Elements that may come in place of one.
  package static let elementAlternatives = 4
  /// age_over_NN requests in one document request (ISO/IEC 18013-5, 7.2.5).
  package static let ageRequests = 2
  /// Refused requests of one code that are logged in one second, each on its own line. Of further ones the log only has
  /// the number.
  package static let refusalLines = 10
  /// Members of a session's `metadata`, and Unicode scalars of a name or a value.
  package static let metadataMembers = 32
  package static let metadataValueCharacters = 512
  /// Sessions on one page of a list: default and most.
  package static let pageSize = 20
  package static let largestPage = 100
  /// Bytes of one page of a list, as it is read and as it is written: it ends with the first entry that is beyond.
  package static let pageBytes = 1 << 20
  /// Lists that one relying party reads at one time, and that wait for that; more are turned away.
  package static let lists = 2
  package static let waitingLists = 32
  /// Seconds that reading one list from the store may take.
  package static let listSeconds: Int64 = 2
  /// Bytes of a session as it is stored at its creation: its requests, one for each protocol, and what was asked.
  package static let sessionBytes = 256 << 10
  /// What one relying party may have in the store unless it is configured: open sessions, bytes of sessions, bytes of
  /// replies under idempotency keys; and seconds after which one that has as much may ask again.
  package static let openSessions: Int64 = 50_000
  package static let storedBytes: Int64 = 8 << 30
  package static let idempotencyBytes: Int64 = 2 << 30
  package static let quotaRetry: Int64 = 60
  /// Audit entries on one page.
  package static let largestAuditPage = 1000

  /// Bytes of a sealed bundle of evidence: the answer in base64, and the lists that its revocation rests on.
  package static let evidenceBytes = 8 << 20

  /// The most seconds by which clocks may be configured to differ.
  package static let longestClockSkew: Int64 = 600
}
