import Glibc
import Base

extension Timestamp {
  /// The wall clock's.
  static func systemNow() -> Timestamp { Timestamp(secondsSince1970: Int64(time(nil))) }
}
