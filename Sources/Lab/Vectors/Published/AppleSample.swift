import Base
import CBOR
import Cryptography
import PKIX

extension AppleInAppSet {
  /// The files of the sample, read.
  struct Sample {
    let envelope: [UInt8]
    /// Where the ciphertext ends within the envelope.
    let endOfData: Int
    let key: PrivateKey
    let anchor: TrustAnchor
    let nonce: [UInt8]
    let merchantID: String
    let teamID: String

    init(in folder: SuiteFolder) throws(SuiteError) {
      func text(_ name: String) throws(SuiteError) -> String { String(decoding: try folder.read(name), as: UTF8.self) }
      let parameters = try text("sample/session_transcript_parameters.txt").split(whereSeparator: \.isNewline)
      func parameter(_ name: String) -> String? {
        parameters.first { $0.hasPrefix(name + ": ") }.map { String($0.dropFirst(name.count + 2)) }
      }
      guard let envelope = Hex.decode(try text("sample/hpke_envelope.cbor")),
        let data = try? CBORItem(parsing: envelope)[key: "data"],
        let scalar = Hex.decode(try text("sample/merchant_encryption_private_scalar.hex")),
        let key = try? PrivateKey(curve: .p256, scalar: scalar),
        let root = PEM.certificates(in: try text("sample/issuer_root.crt"))?.first,
        let certificate = try? Certificate(der: root), let nonce = parameter("Nonce").flatMap({ Hex.decode($0) }),
        let merchantID = parameter("Merchant ID"), let teamID = parameter("Team ID")
      else { throw SuiteError(path: folder.path, problem: "is not Apple's sample as it was published") }
      self.envelope = envelope
      endOfData = data.startOffset + data.encoded.count
      self.key = key
      anchor = TrustAnchor(certificate: certificate)
      (self.nonce, self.merchantID, self.teamID) = (nonce, merchantID, teamID)
    }
  }
}
