/// All bounds of the verifier, shared by the parsers, the server and the documentation. The server's modules add
/// theirs.
public enum Limits {
  /// Bytes of one wallet response, encrypted or not.
  public static let responseBytes = 1 << 20
  /// Bytes of a JWE's plaintext, compressed or inflated: a response in base64url with its parameters, as large as the
  /// largest HTTP body.
  public static let jwePlaintextBytes = responseBytes * 4 / 3 + (48 << 10)
  /// Maximum number of bytes kept of a wallet's `error_description`.
  public static let errorDescriptionBytes = 200
  /// CBOR items in one input, including those inside tag 24.
  public static let cborItems = 1 << 16
  /// JSON values in one text, including nested values.
  public static let jsonValues = 1 << 16
  /// CBOR nesting: arrays, maps, tags, and byte strings that hold CBOR.
  public static let cborDepth = 32
  /// Documents in one DeviceResponse.
  public static let documents = 16
  /// Parameters in one COSE header. An mdoc's headers have three. Comparing two headers takes quadratic time.
  public static let headerParameters = 64
  /// Bytes of the longest bignum to write in decimal: the conversion takes quadratic time.
  public static let decimalBytes = 1_024
  /// Certificates in one x5chain, the leaf included.
  public static let chainCertificates = 5
  /// Bytes of one certificate.
  public static let certificateBytes = 16 << 10

  /// Maximum memory in bytes for verifying one response, excluding the response itself: a node of 32 bytes for each
  /// item, strings in chunks joined at each level, values and report. `mdoc vectors run --measure` checks this maximum
  /// for each case.
  public static let verificationMemoryBytes = 32 << 20
  /// Maximum processor time in seconds for any response. A release build takes milliseconds for the slowest response of
  /// the corpus.
  public static let verificationSeconds = 5

  /// Bytes of a fetched list, both as received and unpacked: CRL, status list, identifier list, VICAL, list of trusted
  /// entities.
  public static let listBytes = 4 << 20
  public static let unpackedListBytes = 16 << 20
  /// CBOR items of a fetched list.
  public static let listItems = 1 << 19
  /// Bytes of an address in a document or a certificate.
  public static let listAddressBytes = 2_048
  /// The lowest port for revocation lists, besides the standard ports: lower ports belong to other protocols.
  public static let lowestListPort: UInt16 = 1_024
  /// Seconds and redirects for fetching one list.
  public static let fetchSeconds: Int64 = 10
  public static let fetchRedirects = 3
  /// Maximum number of waiting checks: for one publisher's lists, and in total. Further checks use the lists in memory.
  public static let publisherWaiters = 128
  public static let waiters = 512
  /// Seconds for fetching one revocation list while a person waits, and the number of addresses to try.
  public static let revocationFetchSeconds: Int64 = 5
  public static let crlAddresses = 2
  /// Seconds until a failed fetch is retried.
  public static let failedFetchLifetime: Int64 = 10
  /// The shortest and longest time in seconds to keep a fetched list. Between these bounds, the list's own lifetime
  /// applies.
  public static let shortestListLifetime: Int64 = 60
  public static let longestListLifetime: Int64 = 86_400
  /// Lists in memory.
  public static let keptLists = 1_024
  public static let keptListBytes = 256 << 20

  /// Bytes of a nonce for Apple in-app requests: the length that this server uses, and the maximum that Apple allows.
  public static let nonceBytes = 32
  public static let appleNonceBytes = 64
  /// Bytes of a JWE's `apu` or `apv`. Both are nonces, hashed for each possible transcript.
  public static let partyInfoBytes = 1_024
  /// Minimum number of bytes of a nonce that a caller supplies.
  public static let shortestNonceBytes = 16

  /// Threads of a PKCS #11 module, with a session each; and the calls that may wait for a thread.
  package static let tokenThreads = 8
  package static let tokenQueue = 256

  /// Timeouts of a call to a token: for a free thread, for a request, and at a start or reload.
  package static let tokenTurn = Duration.seconds(1)
  package static let tokenWait = Duration.seconds(3)
  package static let tokenStart = Duration.seconds(20)

  /// The pause after a failure of the module, before it is used again.
  package static let tokenPause = Duration.seconds(1)

  /// Seconds after which to ask a token again.
  package static let tokenRetry = 2

  /// Objects of one kind that are read from a token, and bytes of one attribute.
  package static let tokenObjects = 1024
  package static let tokenAttributeBytes: UInt = 4096

  /// Maximum work for an encrypted private key, which takes some seconds: rounds of PBKDF2 and its predecessors, or
  /// steps of scrypt (N·r·p).
  public static let passphraseRounds = 5_000_000
  public static let passphraseSteps = 1 << 20

  /// Maximum number of reported faults of one input.
  public static let reportedFaults = 32

  /// The allowed clock skew, in seconds.
  public static let clockSkew: Int64 = 60
}
