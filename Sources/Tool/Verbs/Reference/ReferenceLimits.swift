import Base
import HTTP
import Presentation

/// The limits in force, as a Markdown table.
enum LimitTable {
  static let markdown = """
    They are the `Limits` of Base, Presentation, Sessions and Network, and the HTTP server's configuration. Each limit \
    has its own code. Input beyond a limit is refused before memory is allocated for it.

    | Limit | Value |
    |---|---|
    | One wallet response, encrypted or not | \(Limits.responseBytes) bytes |
    | CBOR items in one input | \(Limits.cborItems) |
    | CBOR items in a fetched list | \(Limits.listItems) |
    | CBOR nesting | \(Limits.cborDepth) levels |
    | Combining marks in a row, in any text from outside | \(StreamSafeText.longestRun) |
    | Documents in one response | \(Limits.documents) |
    | Certificates in one chain | \(Limits.chainCertificates) |
    | One certificate | \(Limits.certificateBytes) bytes |
    | Parameters of one COSE header | \(Limits.headerParameters) |
    | Memory for verifying one response, beside the response; tested by `mdoc vectors run --measure` | \
    \(Limits.verificationMemoryBytes >> 20) MiB |
    | HTTP request body | \(Limits.requestBodyBytes) bytes |
    | HTTP request line and headers | \(Limits.requestHeaderBytes) bytes |
    | Time for a whole HTTP request to arrive | \(server.requestDeadline) s |
    | Time for the client to read the reply | \(server.responseDeadline) s |
    | Silence on a kept-alive connection | \(server.idleTimeout) s |
    | JSON values in one HTTP request body; in any other JSON from outside | \(Limits.requestJSONValues); \
    \(Limits.jsonValues) |
    | Fields of a form, and bytes of a field's name | \(Limits.formFields), and \(Limits.formNameBytes) |
    | Characters of a pointer in a problem, then `…` | \(Limits.pointerCharacters) |
    | HTTP connections | \(server.maxConnections) |
    | HTTP requests running or waiting; above, 503 | \(server.maxInFlight) |
    | Bodies of all HTTP requests, with the memory for their values; above, 503 | \(Limits.bufferedBodyBytes) bytes |
    | Of these: of one API key; of one address; of all without an API key | a half; an eighth; three quarters |
    | Nonce: as generated, and as accepted by `mdoc verify apple` | \(Limits.nonceBytes) bytes, and \(Limits.shortestNonceBytes) to \
    \(Limits.appleNonceBytes) |
    | Session lifetime | \(Limits.sessionLifetime) s, or \(Limits.sessionLifetimeRange.lowerBound) to \
    \(Limits.sessionLifetimeRange.upperBound) by `expires_in` |
    | Session `processing` before it counts as interrupted | \(Limits.processingTimeout) s |
    | Waiting result | \(Limits.resultLifetime) s |
    | Reply kept under its `Idempotency-Key` | \(Limits.idempotencyLifetime) s |
    | Ended sessions and reports kept | \(Limits.sessionRetention / 86_400) days |
    | Sealed bundle of evidence; a larger one is not kept | \(Limits.evidenceBytes) bytes, for as long as its session |
    | Events and their deliveries kept | \(Limits.eventRetention / 86_400) days |
    | Time for one attempt to deliver an event; for all | \(Limits.deliverySeconds) s; \
    \(Limits.deliverySpan / 86_400) days |
    | Attempts running at one time: of one endpoint; of one that failed; the first of each endpoint, all; all others, \
    divided evenly between the relying parties that have some | \(Limits.endpointDeliveries); 1; \(Limits.firstDeliveries); \(Limits.deliveries) |
    | Webhooks of one relying party; secrets of one webhook | \(Limits.webhooks); \(Limits.webhookSecrets) |
    | `wallet_metadata`; keys in it | \(Limits.walletMetadataBytes) bytes; \(Limits.walletKeys) |
    | Private key submitted with a proximity response | \(Limits.submittedKeyBytes) bytes |
    | Rounds of an encrypted private key (PBKDF2); N·r·p of scrypt | \(Limits.passphraseRounds); \
    \(Limits.passphraseSteps) |
    | Calls to one PKCS #11 module at one time, and waiting; above, 503 | \(Limits.tokenThreads), and \(Limits.tokenQueue) |
    | Time that a request waits for a token; that a start or a reload does | \(Limits.tokenWait.components.seconds) s; \
    \(Limits.tokenStart.components.seconds) s |
    | Time that a call waits for a thread of its PKCS #11 module; above, 503 | \(Limits.tokenTurn.components.seconds) s |
    | Pause of a PKCS #11 module that failed | \(Limits.tokenPause.components.seconds) s |
    | Keys of one kind read from a token | \(Limits.tokenObjects) |
    | Documents requested in one session | \(Limits.requestedDocuments) |
    | Elements requested in one session, including alternatives | \(Limits.requestedElements) |
    | Alternatives to one element | \(Limits.elementAlternatives) |
    | Age thresholds for one document | \(Limits.ageRequests) |
    | Members of `metadata`, and characters of each | \(Limits.metadataMembers), and \(Limits.metadataValueCharacters) |
    | Sessions on one page of a list | \(Limits.pageSize), at most \(Limits.largestPage) |
    | Bytes of one page of a list, as it is read and as it is sent | \(Limits.pageBytes) bytes, or one session |
    | Lists that one relying party reads at one time, and that wait; above, 503 | \(Limits.lists), and \
    \(Limits.waitingLists) |
    | Time to read one list from the store; above, 503 | \(Limits.listSeconds) s; PostgreSQL 4 s |
    | Bytes of one session at its creation; above, 413 | \(Limits.sessionBytes) bytes |
    | One fetched list, as received and after HTTP decoding | \(Limits.listBytes) bytes |
    | Address of a list | \(Limits.listAddressBytes) bytes |
    | Time for one fetch; to connect; without a byte | \(Limits.fetchSeconds) s; \(Limits.fetchConnectSeconds) s; \
    \(Limits.fetchSilenceSeconds) s |
    | Redirects of one fetch | \(Limits.fetchRedirects) |
    | Headers of a fetched reply | \(Limits.fetchHeaderBytes) bytes |
    | Fetches at one time, and waiting; of one host | \(Limits.fetches), and \(Limits.waitingFetches); \
    \(Limits.hostFetches), and \(Limits.waitingHostFetches) |
    | Verifications that wait for lists of one host; of all | \(Limits.publisherWaiters); \(Limits.waiters) |
    | Clock skew | \(Limits.clockSkew) s unless configured |
    """

  private static let server = HTTPServerConfiguration()
}
