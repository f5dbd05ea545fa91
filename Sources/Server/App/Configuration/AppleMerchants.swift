import Base
import Cryptography
import PKIX
import Presentation
import Sessions

/// Reads `apple` of a relying party: one merchant, or a list of them.
///
/// ```json
/// { "apple": { "merchant_id": "merchant.example.shop", "team_id": "ABCDE12345",
///              "encryption_keys": [ { "file": "keys/merchant.pem", "certificate": "keys/merchant.cer" } ] } }
/// ```
struct ConfiguredMerchants {
  let secrets: ConfiguredSecrets

  func all(of party: Schema.Object) throws(Schema.Fault) -> [AppleConfiguration] {
    let isList = party.value("apple")?.array != nil
    let entries = isList ? try party.objects("apple") : try party.object("apple").map { [$0] } ?? []
    var merchants: [AppleConfiguration] = []
    for apple in entries {
      guard let merchant = apple.attempt(try self.merchant(apple)) ?? nil else { continue }
      guard !merchants.contains(where: { $0.merchantID == merchant.merchantID }) else {
        throw apple.fault("merchant_id", "is there twice; give all its keys in one place")
      }
      merchants.append(merchant)
    }
    return merchants
  }

  /// Nil if a member has a fault, which is then noted. All members are read nevertheless.
  private func merchant(_ apple: Schema.Object) throws(Schema.Fault) -> AppleConfiguration? {
    let merchant = apple.attempt(try apple.text("merchant_id"))
    let team = apple.attempt(try apple.text("team_id"))
    guard let list = try apple.required("encryption_keys").array, !list.isEmpty else {
      throw apple.fault("encryption_keys", "must be a list of private keys with at least one")
    }
    var keys: [PrivateKey] = []
    var certificates: [MerchantCertificate] = []
    for (index, json) in list.enumerated() {
      let pointer = "\(apple.pointer)/encryption_keys/\(index)"
      guard let key = apple.attempt(try secrets.encryptionKey(json, at: pointer)) else { continue }
      keys.append(key)
      guard let name = json["certificate"], let merchant, let team else { continue }
      let owner = AppleMerchant(merchantID: merchant, teamID: team)
      let certificate = apple.attempt(
        try self.certificate(name, of: owner, key: key.publicKey, at: pointer + "/certificate"))
      if let certificate { certificates.append(certificate) }
    }
    guard let merchant, let team else { return nil }
    return AppleConfiguration(merchantID: merchant, teamID: team, encryptionKeys: keys, certificates: certificates)
  }

  /// Reads a certificate in DER, as Apple gives it, or in PEM.
  private func certificate(
    _ name: JSON, of merchant: AppleMerchant, key: PublicKey, at pointer: String
  ) throws(Schema.Fault) -> MerchantCertificate {
    guard let name = name.string, !name.isEmpty else { throw Schema.Fault(pointer, "must be a file's name") }
    let path = secrets.file.resolve(name)
    let bytes = try secrets.file.read(name, at: pointer)
    let blocks = String(validating: bytes, as: UTF8.self).flatMap { PEM.certificates(in: $0) } ?? []
    guard let certificate = try? Certificate(der: blocks.first ?? bytes) else {
      throw Schema.Fault(pointer, "\(path) holds no certificate in PEM or DER")
    }
    do throws(MerchantCertificate.Problem) {
      return try MerchantCertificate(certificate, of: merchant, key: key)
    } catch {
      throw Schema.Fault(pointer, "\(path) \(error.text(merchant))")
    }
  }
}

extension MerchantCertificate.Problem {
  fileprivate func text(_ merchant: AppleMerchant) -> String {
    switch self {
    case .otherKey: "is the certificate of another key than the one beside it"
    case .otherMerchant(let name):
      "is \(name.map { "merchant \"\($0)\"'s" } ?? "no merchant's") by its UID, not \"\(merchant.merchantID)\"'s"
    case .otherTeam(let name):
      "is \(name.map { "team \"\($0)\"'s" } ?? "no team's") by its OU, not \"\(merchant.teamID)\"'s"
    }
  }
}
