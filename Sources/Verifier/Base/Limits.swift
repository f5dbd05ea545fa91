/// Every bound of the project in one place, shared by the parsers, the server and the documentation.
public enum Limits {
  /// Bytes of one wallet answer, opened or not.
  public static let responseBytes = 1 << 20
  /// CBOR items in one input, those inside tag 24 included.
  public static let cborItems = 1 << 16
  /// JSON values in one text, those inside others included, and in one request body, which needs far fewer: a session
  /// of 128 elements has some hundreds.
  public static let jsonValues = 1 << 16
  public static let requestJSONValues = 1 << 14
  /// CBOR nesting: arrays, maps, tags, and byte strings that hold CBOR.
  public static let cborDepth = 32
  /// Documents in one DeviceResponse.
  public static let documents = 16
  /// Parameters in one COSE header; mdoc's have three. Comparing two headers takes as many steps as their product.
  public static let headerParameters = 64
  /// Certificates in one x5chain, the leaf included.
  public static let chainCertificates = 5
  /// Bytes of one certificate.
  public static let certificateBytes = 16 << 10

  /// Bytes of memory that verifying one answer takes at most, the answer itself not counted, whatever is in it:
  /// a node of 32 bytes for each of its items, its strings in chunks joined anew at each level, values and report.
  /// `mdoc vectors run --measure` holds every case of the corpus to it.
  public static let verificationMemoryBytes = 32 << 20
  /// Seconds of processor time in which any answer is verified or refused, generously: the corpus's costliest takes a
  /// release build some milliseconds.
  public static let verificationSeconds = 5

  /// Bytes of a fetched list, as it came and unpacked: CRL, status list, identifier list, VICAL, list of trusted entities.
  public static let listBytes = 4 << 20
  public static let unpackedListBytes = 16 << 20
  /// CBOR items of a fetched list, which has far more of them than a document.
  public static let listItems = 1 << 19
  /// Bytes of an address that a document or a certificate names.
  public static let listAddressBytes = 2_048
  /// The lowest port, beside the standard ones, at which a revocation list may be asked for: below it other protocols are
  /// at home.
  public static let lowestListPort: UInt16 = 1_024
  /// Seconds that fetching one list may take, and the redirects that it may follow.
  public static let fetchSeconds: Int64 = 10
  public static let fetchRedirects = 3
  /// Of these seconds, how many one connection may take to come about, and how long nothing may arrive.
  public static let fetchConnectSeconds: Int64 = 5
  public static let fetchSilenceSeconds: Int64 = 5
  /// Bytes of the headers of one answer.
  public static let fetchHeaderBytes = 64 << 10
  /// Fetches that run at one time, and that wait for one of these to end; more are turned away.
  public static let fetches = 16
  public static let waitingFetches = 256
  /// Of these, the fetches from one host: a publisher that lets everybody wait must not take all places.
  public static let hostFetches = 4
  public static let waitingHostFetches = 32
  /// Questions of answers that wait for lists of one publisher, and for all; of more, none waits, and what is in memory
  /// must do.
  public static let publisherWaiters = 128
  public static let waiters = 512
  /// Seconds for one list of revocation, which a person waits for, and the addresses of one such list that are tried.
  public static let revocationFetchSeconds: Int64 = 5
  public static let crlAddresses = 2
  /// Seconds until a publisher that failed is asked again.
  public static let failedFetchLifetime: Int64 = 10
  /// Seconds that a fetched list is kept: its own lifetime, but at least and at most.
  public static let shortestListLifetime: Int64 = 60
  public static let longestListLifetime: Int64 = 86_400
  /// Lists that are kept at one time.
  public static let keptLists = 1_024
  public static let keptListBytes = 256 << 20

  /// Bytes of one HTTP request body: a base64 answer with room to spare.
  public static let requestBodyBytes = (responseBytes * 4 / 3) + (64 << 10)
  /// Bytes of all request bodies that are held at one time, with what is made of them.
  public static let bufferedBodyBytes = 64 << 20
  /// Bytes of a body that the rate of an address counts as one more request.
  public static let bytesPerRequest = 64 << 10
  /// Bytes of a body that are read and dropped so that whoever is refused reads why: a connection that is closed on a
  /// caller who still sends may lose the reply.
  public static let droppedBodyBytes = 64 << 10
  /// Fields of a form, and bytes of a field's name.
  public static let formFields = 32
  public static let formNameBytes = 256
  /// API keys, sessions and addresses whose rates are remembered at one time, some 60 bytes each; of more, those that
  /// asked longest ago are forgotten.
  public static let limitedKeys = 4_096
  public static let limitedSessions = 32_768
  public static let limitedAddresses = 65_536
  /// Bytes of an HTTP request's headers.
  public static let requestHeaderBytes = 16 << 10

  /// Bytes of a nonce for Apple in-app requests: what we make, and what Apple takes at most.
  public static let nonceBytes = 32
  public static let appleNonceBytes = 64
  /// Bytes of a `wallet_nonce` that is repeated in a request object.
  public static let walletNonceBytes = 512
  /// Bytes of a JWE's `apu` or `apv`, which are nonces: those of an answer are hashed for every transcript that is tried.
  public static let partyInfoBytes = 1_024
  /// Bytes of the shortest nonce that is accepted from outside.
  public static let shortestNonceBytes = 16

  /// Seconds that a session may wait for its answer: default and range.
  public static let sessionLifetime: Int64 = 600
  public static let sessionLifetimeRange: ClosedRange<Int64> = 30...3600
  /// Seconds after which a session still `processing` reads as interrupted.
  public static let processingTimeout: Int64 = 30
  /// Seconds that a sealed result can be read.
  public static let resultLifetime: Int64 = 600
  /// Seconds that a reply is kept under its Idempotency-Key.
  public static let idempotencyLifetime: Int64 = 86_400
  /// Days that ended sessions and reports are kept.
  public static let sessionRetention: Int64 = 30 * 86_400

  /// Days for which a relying party may say that it keeps a value, and how many it may unless configured otherwise.
  public static let retainDays: ClosedRange<Int64> = 1...3_650
  public static let longestRetainDays: Int64 = 365

  /// Seconds that events and their deliveries are kept.
  public static let eventRetention: Int64 = 30 * 86_400
  /// Seconds for which a claimed delivery is nobody else's: longer than an attempt takes.
  public static let deliveryLease: Int64 = 60
  /// Seconds that one attempt may take, and bytes of its answer that are read.
  public static let deliverySeconds: Int64 = 10
  public static let deliveryAnswerBytes = 16 << 10
  /// Seconds between the first attempts, at most between the last, and from the first to the last: then it is a dead
  /// letter.
  public static let shortestDeliveryPause: Int64 = 5
  public static let longestDeliveryPause: Int64 = 6 * 3_600
  public static let deliverySpan: Int64 = 3 * 86_400
  /// Seconds after which a delivery that nobody has tried for is a dead letter too.
  public static let deliveryAbandonment: Int64 = deliverySpan + 86_400
  /// Attempts under way at one time: of one endpoint that takes what it gets; the first ones of endpoints; and all that
  /// are not the first of their endpoint, which relying parties share.
  public static let endpointDeliveries = 16
  public static let firstDeliveries = 1_024
  public static let deliveries = 128
  /// Endpoints of one relying party, characters of an endpoint's id, secrets of one endpoint.
  public static let webhooks = 8
  public static let webhookIDCharacters = 28
  public static let webhookSecrets = 4

  /// Bytes of a private key that is submitted with a proximity answer, in PEM or as a scalar.
  public static let submittedKeyBytes = 4 << 10
  /// Rounds of an encrypted private key's derivation (PBKDF2 and its forerunners), some seconds; and the steps of
  /// scrypt, N·r·p.
  public static let passphraseRounds = 5_000_000
  public static let passphraseSteps = 1 << 20

  /// Documents and elements that one session may ask for.
  public static let requestedDocuments = 8
  public static let requestedElements = 128
  /// age_over_NN requests in one document request (ISO/IEC 18013-5, 7.2.5).
  public static let ageRequests = 2
  /// Faults of one input that are reported, and characters of the pointer to one, which has the caller's own names.
  public static let reportedFaults = 32
  public static let pointerCharacters = 200
  /// Refused requests of one code that have a line of the log each, in a second; of more there is their number.
  public static let refusalLines = 10
  /// Members of a session's `metadata`, and Unicode scalars of a name or a value.
  public static let metadataMembers = 32
  public static let metadataValueCharacters = 512
  /// Sessions on one page of a list: default and most.
  public static let pageSize = 20
  public static let largestPage = 100
  /// Bytes of one page of a list, as it is read and as it is written: it ends with the first entry that is beyond.
  public static let pageBytes = 1 << 20
  /// Lists that one relying party reads at one time, and that wait for that; more are turned away.
  public static let lists = 2
  public static let waitingLists = 32
  /// Seconds that reading one list from the store may take.
  public static let listSeconds: Int64 = 2
  /// Bytes of a session as it is stored at its creation: its requests, one for each protocol, and what was asked.
  public static let sessionBytes = 256 << 10
  /// What one relying party may have in the store unless it is configured: open sessions, bytes of sessions, bytes of
  /// replies under idempotency keys; and seconds after which one that has as much may ask again.
  public static let openSessions: Int64 = 50_000
  public static let storedBytes: Int64 = 8 << 30
  public static let idempotencyBytes: Int64 = 2 << 30
  public static let quotaRetry: Int64 = 60
  /// Audit entries on one page.
  public static let largestAuditPage = 1000

  /// Bytes of a sealed bundle of evidence: the answer in base64, and the lists that its revocation rests on.
  public static let evidenceBytes = 8 << 20

  /// Seconds by which clocks may differ.
  public static let clockSkew: Int64 = 60
  public static let longestClockSkew: Int64 = 600
}
