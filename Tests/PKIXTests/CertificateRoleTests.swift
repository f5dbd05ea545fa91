import Testing

@testable import PKIX

/// Usages that roles permit, and those that only their profiles require.
@Suite struct CertificateRoleTests {
  typealias Usage = CertificateExtensions.KeyUsage

  @Test(arguments: CertificateRole.allCases)
  func `A role permits its own profile, and no certificate without key usage`(role: CertificateRole) {
    #expect(role.permits(role.keyUsage) && !role.permits(nil) && !role.permits(Usage()))
    #expect(role.permits(extendedKeyUsages: Array(role.extendedKeyUsages)))
    #expect(role.requiresExtendedKeyUsage != role.permits(extendedKeyUsages: nil))
    #expect(role.longestValidityDays > 0 && !role.clause.isEmpty)
  }

  @Test(arguments: CertificateRole.allCases.filter { !$0.isAuthority })
  func `Nobody who signs anything else signs certificates or revocation lists`(role: CertificateRole) {
    #expect(!role.permits([role.keyUsage, .keyCertSign]) && !role.permits([role.keyUsage, .cRLSign]))
  }

  @Test(arguments: CertificateRole.allCases.filter { !$0.isAuthority })
  func `A purpose of another role alone is none of this one`(role: CertificateRole) {
    for other in CertificateRole.allCases where other != role && !other.extendedKeyUsages.isEmpty {
      #expect(!role.permits(extendedKeyUsages: Array(other.extendedKeyUsages)), "\(other)")
    }
  }

  @Test func `Only the signer of a VICAL must have its key usage and no other`() {
    #expect(!CertificateRole.vicalSigner.permits([.nonRepudiation, .digitalSignature]))
    #expect(CertificateRole.statusListSigner.permits([.nonRepudiation, .digitalSignature]))
    #expect(CertificateRole.trustedEntityListSigner.permits(.nonRepudiation))
  }
}
