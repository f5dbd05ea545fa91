/// Every bound of the verifier in one place, shared by the parsers, the server and the documentation. The modules of the
/// server add their own.
public enum Limits {
  /// Bytes of one wallet answer, opened or not.
  public static let responseBytes = 1 << 20
  /// Bytes of a JWE's plaintext, as it was encrypted and inflated: an answer in base64url with its parameters. It is as
  /// much as the largest HTTP body holds without compression.
  public static let jwePlaintextBytes = responseBytes * 4 / 3 + (48 << 10)
  /// Bytes that are kept of a wallet's `error_description`.
  public static let errorDescriptionBytes = 200
  /// CBOR items in one input, those inside tag 24 included.
  public static let cborItems = 1 << 16
  /// JSON values in one text, those inside others included.
  public static let jsonValues = 1 << 16
  /// CBOR nesting: arrays, maps, tags, and byte strings that hold CBOR.
  public static let cborDepth = 32
  /// Documents in one DeviceResponse.
  public static let documents = 16
  /// Parameters in one COSE header; mdoc's have three. Comparing two headers takes as many steps as their product.
  public static let headerParameters = 64
  /// Bytes of the longest bignum that is written in decimal, which takes time by the square of its length.
  public static let decimalBytes = 1_024
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
  /// The lowest port, beside the standard ones, at which a revocation list may be asked for: lower ports belong to
  /// other protocols.
  public static let lowestListPort: UInt16 = 1_024
  /// Seconds that fetching one list may take, and the redirects that it may follow.
  public static let fetchSeconds: Int64 = 10
  public static let fetchRedirects = 3
  /// The most questions that may wait for the lists of one publisher, and of all. Further questions do not wait, and
  /// are answered from what is in memory.
  public static let publisherWaiters = 128
  public static let waiters = 512
  /// Seconds for one list of revocation, which a person waits for, and the addresses of one such list that are tried.
  public static let revocationFetchSeconds: Int64 = 5
  public static let crlAddresses = 2
  /// Seconds until a publisher that failed is asked again.
  public static let failedFetchLifetime: Int64 = 10
  /// The shortest and the longest time in seconds that a fetched list is kept. Between them, its own lifetime counts.
  public static let shortestListLifetime: Int64 = 60
  public static let longestListLifetime: Int64 = 86_400
  /// Lists that are kept at one time.
  public static let keptLists = 1_024
  public static let keptListBytes = 256 << 20

  /// Bytes of a nonce for Apple in-app requests: the length of ours, and the longest that Apple takes.
  public static let nonceBytes = 32
  public static let appleNonceBytes = 64
  /// Bytes of a JWE's `apu` or `apv`, which are nonces: those of an answer are hashed for every transcript that is tried.
  public static let partyInfoBytes = 1_024
  /// Bytes of the shortest nonce that is accepted from outside.
  public static let shortestNonceBytes = 16

  /// Rounds of an encrypted private key's derivation (PBKDF2 and its forerunners), some seconds; and the steps of
  /// scrypt, N·r·p.
  public static let passphraseRounds = 5_000_000
  public static let passphraseSteps = 1 << 20

  /// Faults of one input that are reported.
  public static let reportedFaults = 32

  /// Seconds by which clocks may differ.
  public static let clockSkew: Int64 = 60
}
