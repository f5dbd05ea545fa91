import Base
import PKIX

/// The settings beside an anchor's file: `utah.json` describes `utah.pem`.
///
/// ```json
/// { "doc_types": ["org.iso.18013.5.1.mDL"], "ekus": ["1.0.18013.5.1.2"], "max_path_length": 0,
///   "relax": ["trust.certificate.extended_key_usage"], "crl_addresses": "named", "allow_http": false,
///   "jwt_status_lists": false, "zk": true, "tier": "live", "kind": "authority", "source": "AAMVA VICAL of 2026-11-20" }
/// ```
struct AnchorSettings {
  var kind = TrustAnchor.Kind.authority
  var docTypes: [String]?
  /// Nil means those of the document type.
  var extendedKeyUsages: Set<String>?
  var maxPathLength = 0
  var relaxed: Set<Code> = []
  var allowsPlainHTTP = false
  var allowsJWTStatusLists = false
  /// Nil if the settings don't mention it.
  var crlAddresses: CRLAddresses?
  /// Nil stands for yes if document types are configured.
  var allowsProofs: Bool?
  var tier = TrustAnchor.Tier.live
  /// The place that the operator got the certificate from.
  var source: String?

  /// The settings of an anchor that has no settings file.
  init(defaultDocTypes: [String]?) { docTypes = defaultDocTypes }

  /// - Parameter path: the file that an error names.
  init(parsing bytes: [UInt8], at path: String, defaultDocTypes: [String]?) throws(TrustLoadError) {
    func fault(_ problem: String) -> TrustLoadError { TrustLoadError(path: path, problem: problem) }
    docTypes = defaultDocTypes
    guard let json = try? JSON(parsing: bytes), let members = json.object else {
      throw fault("is not a JSON object")
    }
    for member in members {
      switch member.name {
      case "doc_types": docTypes = try Self.strings(member, path)
      case "ekus": extendedKeyUsages = Set(try Self.strings(member, path))
      case "max_path_length":
        guard let length = member.value.integer, (0...8).contains(length) else {
          throw fault("max_path_length is not an integer from 0 to 8")
        }
        maxPathLength = Int(length)
      case "relax": relaxed = try Self.relaxations(member, path)
      case "allow_http":
        guard let isAllowed = member.value.bool else { throw fault("allow_http is neither true nor false") }
        allowsPlainHTTP = isAllowed
      case "jwt_status_lists":
        guard let isAllowed = member.value.bool else { throw fault("jwt_status_lists is neither true nor false") }
        allowsJWTStatusLists = isAllowed
      case "crl_addresses":
        guard let addresses = member.value.string.flatMap(CRLAddresses.init) else {
          throw fault("crl_addresses is neither \"named\" nor \"https\"")
        }
        crlAddresses = addresses
      case "zk":
        guard let isAllowed = member.value.bool else { throw fault("zk is neither true nor false") }
        allowsProofs = isAllowed
      case "tier":
        guard let tier = member.value.string.flatMap(TrustAnchor.Tier.init) else {
          throw fault("tier is neither \"live\" nor \"test\"")
        }
        self.tier = tier
      case "source":
        guard let text = member.value.string, (1...256).contains(text.utf8.count) else {
          throw fault("source is not a text of at most 256 bytes")
        }
        source = text
      case "kind":
        guard let kind = member.value.string.flatMap(TrustAnchor.Kind.init) else {
          throw fault("kind is neither \"authority\" nor \"document_signer\"")
        }
        self.kind = kind
      default: throw fault("has the unknown member \"\(member.name)\"")
      }
    }
    if kind == .documentSigner, maxPathLength > 0 {
      throw fault("max_path_length has no meaning for a document signer")
    }
    if kind == .authority, let code = relaxed.intersection(TrustAnchor.relaxableForSigners).first {
      throw fault("relax: \"\(code.rawValue)\" is for the kind \"document_signer\" alone")
    }
    // An operator who forbids plain HTTP forbids it for revocation lists too.
    if crlAddresses == nil, json["allow_http"]?.bool == false { crlAddresses = .https }
  }

  /// - Parameter file: the file that the certificate was read from.
  func anchor(_ certificate: Certificate, source file: String) -> TrustAnchor {
    var anchor = TrustAnchor(
      certificate: certificate, kind: kind, docTypes: docTypes, extendedKeyUsages: extendedKeyUsages,
      maxPathLength: maxPathLength, relaxed: relaxed, tier: tier,
      source: source.map { "\(file): \($0)" } ?? file)
    anchor.allowsPlainHTTP = allowsPlainHTTP
    anchor.allowsJWTStatusLists = allowsJWTStatusLists
    anchor.crlAddresses = crlAddresses ?? .named
    anchor.allowsProofsExplicitly = allowsProofs
    return anchor
  }

  private static func strings(_ member: JSON.Member, _ path: String) throws(TrustLoadError) -> [String] {
    let strings = member.value.array?.compactMap(\.string) ?? []
    guard !strings.isEmpty, strings.count == member.value.array?.count else {
      throw TrustLoadError(path: path, problem: "\(member.name) is not a list of strings")
    }
    return strings
  }

  private static func relaxations(_ member: JSON.Member, _ path: String) throws(TrustLoadError) -> Set<Code> {
    var codes: Set<Code> = []
    for name in try strings(member, path) {
      guard let code = Code(rawValue: name), TrustAnchor.relaxable.contains(code) else {
        let allowed = TrustAnchor.relaxable.map(\.rawValue).sorted().joined(separator: ", ")
        throw TrustLoadError(path: path, problem: "relax: \"\(name)\" can't be relaxed; these can: \(allowed)")
      }
      codes.insert(code)
    }
    return codes
  }
}

extension TrustAnchor {
  /// An anchor whose settings came beside it as JSON, not in a file.
  ///
  /// - Throws: `TrustLoadError`, with `source` for the path.
  public init(certificate: Certificate, settings: [UInt8], source: String) throws(TrustLoadError) {
    self = try AnchorSettings(parsing: settings, at: source, defaultDocTypes: nil).anchor(certificate, source: source)
  }
}
