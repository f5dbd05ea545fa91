import Base
import Glibc
import Sessions

/// The configuration's `node`: the name of this process among those that share a store; by default the host's.
enum NodeReader {
  static func node(_ root: ConfigurationReader) throws(StartError) -> NodeName {
    guard root.value("node") == nil else {
      guard let node = NodeName(try root.string("node")) else {
        throw root.fault("node", "must be 1 to 63 of the characters a-z, 0-9, . and -")
      }
      return node
    }
    guard let node = NodeName(hostName().lowercased()) else {
      throw root.fault("node", "is required here, since the host's name has other characters than a-z, 0-9, . and -")
    }
    return node
  }

  private static func hostName() -> String {
    var name = [CChar](repeating: 0, count: 256)
    guard gethostname(&name, name.count - 1) == 0 else { return "" }
    return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
