import Glibc

package enum FileFault {
  /// - Parameter code: a value of `errno`.
  package static func reason(_ code: Int32) -> String {
    switch code {
    case ENOENT: "there is no such file or folder"
    case EISDIR: "is a folder, not a file"
    case EACCES: "permission denied"
    case EEXIST: "exists already, and is not overwritten"
    case ENOTDIR: "a part of the path is not a folder"
    default: String(cString: strerror(code))
    }
  }
}
