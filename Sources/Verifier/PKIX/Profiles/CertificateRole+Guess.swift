extension CertificateRole {
  /// The role that a certificate seems to be made for, and by what it was told.
  public static func guess(_ certificate: Certificate) -> (role: CertificateRole, reason: String) {
    let extensions = certificate.extensions
    // A link certificate may have one name twice, but never one key.
    let isRoot = certificate.chainsByName(to: certificate)
    if extensions.isCA {
      return isRoot
        ? (.iaca, "it has the CA flag, and is its own issuer") : (.iacaLink, "it has the CA flag, and another issuer")
    }
    let purposes = Set(extensions.extendedKeyUsage ?? [])
    if let role = allCases.first(where: { !$0.extendedKeyUsages.isDisjoint(with: purposes) }) {
      let known = role.extendedKeyUsages.intersection(purposes).sorted()
      return (role, "its extended key usage has \(known.joined(separator: ", "))")
    }
    let usage = extensions.keyUsage ?? []
    if usage == .nonRepudiation { return (.vicalSigner, "its only key usage is nonRepudiation") }
    if usage.contains(.keyCertSign) {
      return (isRoot ? .iaca : .iacaLink, "its key usage has keyCertSign")
    }
    return (.documentSigner, "nothing in it tells of another role")
  }
}
