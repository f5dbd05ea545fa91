import PKIX
import Primitives

/// The settings that stand beside an anchor: `utah.pem` is described by `utah.json`.
///
/// ```json
/// { "doc_types": ["org.iso.18013.5.1.mDL"], "ekus": ["1.0.18013.5.1.2"], "max_path_length": 0,
///   "relax": ["trust.certificate.extended_key_usage"], "tier": "live" }
/// ```
struct AnchorSettings {
  var docTypes: [String]?
  var extendedKeyUsages: Set<String> = [TrustAnchor.documentSignerUsage]
  var maxPathLength = 0
  var relaxed: Set<Code> = []
  var tier = TrustAnchor.Tier.live

  /// Without a settings file.
  init(defaultDocTypes: [String]?) { docTypes = defaultDocTypes }

  /// - Throws: what is wrong, naming the member.
  init(parsing bytes: [UInt8], defaultDocTypes: [String]?) throws(Problem) {
    docTypes = defaultDocTypes
    guard let json = try? JSON(parsing: bytes), let members = json.object else {
      throw Problem("is not a JSON object")
    }
    for member in members {
      switch member.name {
      case "doc_types": docTypes = try Self.strings(member)
      case "ekus": extendedKeyUsages = Set(try Self.strings(member))
      case "max_path_length":
        guard let length = member.value.integer, (0...8).contains(length) else {
          throw Problem("max_path_length is not an integer from 0 to 8")
        }
        maxPathLength = Int(length)
      case "relax": relaxed = try Self.relaxations(member)
      case "tier":
        guard let tier = member.value.string.flatMap(TrustAnchor.Tier.init) else {
          throw Problem("tier is neither \"live\" nor \"test\"")
        }
        self.tier = tier
      default: throw Problem("has the unknown member \"\(member.name)\"")
      }
    }
  }

  struct Problem: Error {
    let text: String
    init(_ text: String) { self.text = text }
  }

  private static func strings(_ member: JSON.Member) throws(Problem) -> [String] {
    let strings = member.value.array?.compactMap(\.string) ?? []
    guard !strings.isEmpty, strings.count == member.value.array?.count else {
      throw Problem("\(member.name) is not a list of strings")
    }
    return strings
  }

  private static func relaxations(_ member: JSON.Member) throws(Problem) -> Set<Code> {
    var codes: Set<Code> = []
    for name in try strings(member) {
      guard let code = Code(rawValue: name), TrustAnchor.relaxable.contains(code) else {
        let allowed = TrustAnchor.relaxable.map(\.rawValue).sorted().joined(separator: ", ")
        throw Problem("relax: \"\(name)\" can't be relaxed; these can: \(allowed)")
      }
      codes.insert(code)
    }
    return codes
  }
}

extension TrustAnchor {
  /// An anchor with settings that came beside it in JSON, rather than in a file.
  ///
  /// - Throws: `TrustLoadError`, with `source` for the path.
  public init(certificate: Certificate, settings: [UInt8], source: String) throws(TrustLoadError) {
    do throws(AnchorSettings.Problem) {
      let settings = try AnchorSettings(parsing: settings, defaultDocTypes: nil)
      self.init(
        certificate: certificate, docTypes: settings.docTypes, extendedKeyUsages: settings.extendedKeyUsages,
        maxPathLength: settings.maxPathLength, relaxed: settings.relaxed, tier: settings.tier, source: source)
    } catch {
      throw TrustLoadError(path: source, problem: error.text)
    }
  }
}
