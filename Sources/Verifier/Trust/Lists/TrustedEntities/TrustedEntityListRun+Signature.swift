import Base
import Cryptography
import JOSE
import PKIX

/// JAdES baseline B: what the header must say, and whether the signature verifies.
extension TrustedEntityListRun {
  /// Header parameters of JAdES that are processed here, and that `crit` may therefore name.
  private static let understood: Set<String> = ["sigT", JWSHeader.Name.issuedAt]

  mutating func parse(_ bytes: [UInt8]) -> CompactJWS? {
    // A line's end after the last part is an editor's, not the signer's.
    let text = bytes.prefix(bytes.count - bytes.reversed().prefix { $0 == 0x0a || $0 == 0x0d }.count)
    do throws(JOSEError) {
      let jws = try CompactJWS(parsing: text, understanding: Self.understood)
      checks.passed(.listMalformed)
      checks.passed(.listCriticalExtension)
      return jws
    } catch .unsupportedCritical {
      checks.failed(.listCriticalExtension, "the header has a critical parameter that is not known")
    } catch {
      checks.failed(.listMalformed, "it is not a compact JWS with a proper header")
    }
    return nil
  }

  mutating func checkSignature(_ jws: CompactJWS, signer: Certificate, key: PublicKey) {
    let verdict = jws.verify(with: key)
    guard verdict == .valid || verdict == .invalid else {
      checks.failed(.listAlgorithmUnsupported, verdict == .keyMismatch ? "another key's algorithm" : nil)
      checks.notRun(.listSignatureInvalid)
      return
    }
    checks.require(verdict == .valid, .listSignatureInvalid)
    // What the signer signed may name whose certificate it meant (ETSI TS 119 182-1, 5.2.2).
    if let thumbprint = jws.header["x5t#S256"] {
      let isSigners = thumbprint.string.flatMap(Base64.decodeURLSafe) == signer.sha256
      checks.require(isSigners, .listSignatureInvalid, "x5t#S256 is not the signer's")
    }
  }

  /// `iat`, in older lists `sigT` (ETSI TS 119 182-1, 5.1.11 and 5.2.1).
  mutating func checkSigningTime(_ header: JWSHeader) {
    var signed = header.issuedAt.map { Timestamp(secondsSince1970: $0) }
    if let old = header["sigT"] {
      guard let time = old.string.flatMap(Timestamp.init(rfc3339:)) else {
        checks.failed(.listMalformed, "sigT is no time")
        return
      }
      signed = max(signed ?? time, time)
    }
    guard let signed else {
      checks.warned(.listDeviation, "the header has neither iat nor sigT")
      return
    }
    checks.require(signed <= now + Limits.clockSkew, .listIssuedInFuture, "signed at \(signed)")
  }
}
