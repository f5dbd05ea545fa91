import Base
import PKIX
import Presentation

extension ShownFile {
  /// A revocation list: verified where one of the named authorities issued it.
  init(_ list: UnverifiedCRL, bytes: [UInt8], authorities: [Certificate], at now: Timestamp) {
    kind = "crl"
    title = "Revocation list of \(list.issuer.text)"
    let faults = authorities.map { authority -> CRLError? in
      do throws(CRLError) {
        _ = try VerifiedCRL(verifying: bytes, issuer: authority, at: now)
        return nil
      } catch { return error }
    }
    let issuer = zip(authorities, faults).first { $0.1 == nil }?.0
    if authorities.isEmpty {
      state = .unverified
      caution = "no --signer-anchor is given, so anybody may have signed this; what follows is only what the file says"
      checks = []
    } else if issuer != nil {
      state = .accepted
      caution = nil
      checks = [Check(.crlInvalid, .passed)]
    } else {
      state = .refused
      caution = "it says nothing about any certificate; what follows is only what the file says"
      // The fault under its own issuer says more than that the others are not its issuer.
      let fault = faults.compactMap { $0 }.first { $0 != .otherIssuer } ?? .otherIssuer
      checks = [Check(.crlInvalid, .failed, detail: fault.detail)]
    }
    rows = [
      ("Issued", "\(list.thisUpdate)"), ("Next update", list.nextUpdate.map { "\($0)" } ?? "not said"),
      ("Revoked", list.serialNumbers.count == 1 ? "1 certificate" : "\(list.serialNumbers.count) certificates"),
    ]
    members = [
      ("issuer", .string(list.issuer.text)), ("issued_at", Self.time(list.thisUpdate)),
      ("next_update", Self.time(list.nextUpdate)),
      ("verified_by", issuer.map { .string($0.fingerprint) } ?? .null),
    ]
    entries = list.serialNumbers.map { number in
      Entry(
        title: "Serial number \(Hex.encode(number))", rows: [], json: ["serial_number": .string(Hex.encode(number))])
    }
  }

  /// Certificates, by the profile of their roles.
  init(_ findings: [CertificateFindings], at now: Timestamp) {
    kind = "certificates"
    title = findings.count == 1 ? "1 certificate" : "\(findings.count) certificates"
    state = .unverified
    caution = "a certificate vouches for nobody until somebody names it as an anchor"
    rows = []
    members = []
    checks = []
    entries = findings.map { finding in
      let certificate = finding.found.certificate
      // A relying party's own vouches for nobody: the profiles of those that do are not held against it.
      if let certificate, let merchant = MerchantCertificate.merchant(named: certificate) {
        return Entry(merchant: merchant, certificate, at: now)
      }
      let facts = certificate.map { $0.summaryRows(at: now) } ?? []
      let role = finding.role.map { [("Role", $0.rawValue + (finding.guessedBy.map { ", guessed: \($0)" } ?? ""))] }
      let notable = finding.checks.filter { $0.outcome == .failed || $0.outcome == .warning }.map { check in
        (check.outcome == .failed ? "FAILED" : "Warning", check.code.rawValue + (check.detail.map { ": \($0)" } ?? ""))
      }
      return Entry(
        title: certificate?.subject.text ?? "(unreadable)", rows: facts + (role ?? []) + notable,
        json: finding.json(strictly: false))
    }
  }
}

extension ShownFile.Entry {
  /// Apple's certificate of a merchant's key.
  fileprivate init(merchant: AppleMerchant, _ certificate: Certificate, at now: Timestamp) {
    title = certificate.subject.text
    let hash = certificate.publicKey.map { Hex.encode(AppleInApp.recipientKeyHash($0)) } ?? "none"
    rows =
      certificate.summaryRows(at: now) + [
        ("Role", "the encryption certificate of an Apple merchant: apps' answers are encrypted to its key"),
        ("Merchant (UID)", merchant.merchantID), ("Team (OU)", merchant.teamID), ("pkRHash", hash),
      ]
    json = .object(
      (certificate.summaryJSON.object ?? []) + [
        .init("role", "apple_merchant"), .init("merchant_id", .string(merchant.merchantID)),
        .init("team_id", .string(merchant.teamID)), .init("pk_r_hash", .string(hash)),
      ])
  }
}
