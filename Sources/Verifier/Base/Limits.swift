/// All bounds of the verifier, shared by the parsers, the server and the documentation. The server's modules add their
/// own bounds.
public enum Limits {
  /// Maximum size in bytes of one wallet response, encrypted or not.
  public static let responseBytes = 1 << 20
  /// Maximum size in bytes of a JWE's plaintext, compressed or inflated. It fits a response in base64url with its
  /// parameters, and equals the largest HTTP body.
  public static let jwePlaintextBytes = responseBytes * 4 / 3 + (48 << 10)
  /// Maximum stored length in bytes of a wallet's `error_description`.
  public static let errorDescriptionBytes = 200
  /// Maximum number of CBOR items in one input, including those inside tag 24.
  public static let cborItems = 1 << 16
  /// Maximum number of JSON values in one text, including nested values.
  public static let jsonValues = 1 << 16
  /// Maximum depth of CBOR: arrays, maps, tags, and byte strings that contain CBOR.
  public static let cborDepth = 32
  /// Maximum number of documents in one DeviceResponse.
  public static let documents = 16
  /// Maximum number of parameters in one COSE header. An mdoc's headers have three. Comparing two headers takes
  /// quadratic time.
  public static let headerParameters = 64
  /// Maximum length in bytes of a bignum to write in decimal, since the conversion takes quadratic time.
  public static let decimalBytes = 1_024
  /// Maximum number of certificates in one x5chain, including the leaf.
  public static let chainCertificates = 5
  /// Maximum size in bytes of one certificate.
  public static let certificateBytes = 16 << 10

  /// Maximum memory in bytes for verifying one response, excluding the response itself. It covers a node of 32 bytes
  /// for each item, strings in chunks joined at each level, values and the report. `mdoc vectors run --measure` checks
  /// this maximum for each case.
  public static let verificationMemoryBytes = 32 << 20
  /// Maximum processor time in seconds for any response. A release build takes milliseconds for the slowest response of
  /// the corpus.
  public static let verificationSeconds = 5

  /// Maximum size in bytes of a fetched list, as received and unpacked: CRL, status list, identifier list, VICAL, list
  /// of trusted entities.
  public static let listBytes = 4 << 20
  public static let unpackedListBytes = 16 << 20
  /// Maximum number of CBOR items in a fetched list.
  public static let listItems = 1 << 19
  /// Maximum length in bytes of an address in a document or a certificate.
  public static let listAddressBytes = 2_048
  /// The lowest allowed port for revocation lists, apart from the standard ports. Other lower ports belong to other
  /// protocols.
  public static let lowestListPort: UInt16 = 1_024
  /// The time limit in seconds, and the maximum number of redirects, for fetching one list.
  public static let fetchSeconds: Int64 = 10
  public static let fetchRedirects = 3
  /// Maximum number of waiting checks: for one publisher's lists, and in total. Further checks use the lists in memory.
  public static let publisherWaiters = 128
  public static let waiters = 512
  /// The time limit in seconds for fetching one revocation list while a person waits, and the maximum number of
  /// addresses to try.
  public static let revocationFetchSeconds: Int64 = 5
  public static let crlAddresses = 2
  /// Seconds until a failed fetch is retried.
  public static let failedFetchLifetime: Int64 = 10
  /// The shortest and longest time in seconds to cache a fetched list. Between these bounds, the list's own lifetime
  /// applies.
  public static let shortestListLifetime: Int64 = 60
  public static let longestListLifetime: Int64 = 86_400
  /// Lists in memory.
  public static let keptLists = 1_024
  public static let keptListBytes = 256 << 20

  /// The length in bytes of a nonce for Apple in-app requests: this server's length, and Apple's maximum.
  public static let nonceBytes = 32
  public static let appleNonceBytes = 64
  /// Maximum length in bytes of a JWE's `apu` or `apv`. Both are nonces, hashed for each possible transcript.
  public static let partyInfoBytes = 1_024
  /// Minimum number of bytes of a nonce that a caller supplies.
  public static let shortestNonceBytes = 16

  /// The number of threads for a PKCS #11 module, each with its own session, and the maximum number of calls that wait
  /// for a thread.
  package static let tokenThreads = 8
  package static let tokenQueue = 256

  /// Timeouts of a call to a token: for a free thread, for a request, and at a start or reload.
  package static let tokenTurn = Duration.seconds(1)
  package static let tokenWait = Duration.seconds(3)
  package static let tokenStart = Duration.seconds(20)

  /// The pause before a failed module is used again.
  package static let tokenPause = Duration.seconds(1)

  /// Seconds until a client may retry a call that needs a token.
  package static let tokenRetry = 2

  /// Maximum number of objects of one kind to read from a token, and maximum length in bytes of one attribute.
  package static let tokenObjects = 1024
  package static let tokenAttributeBytes: UInt = 4096

  /// Maximum work for decrypting a private key: rounds of PBKDF2 and its predecessors, or steps of scrypt (N·r·p). The
  /// maximum takes some seconds.
  public static let passphraseRounds = 5_000_000
  public static let passphraseSteps = 1 << 20

  /// Maximum number of reported faults of one input.
  public static let reportedFaults = 32

  /// The allowed clock skew, in seconds.
  public static let clockSkew: Int64 = 60
}
