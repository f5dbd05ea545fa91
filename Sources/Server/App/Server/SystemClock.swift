import Base
import Glibc

extension Timestamp {
  /// The wall clock's.
  package static func systemNow() -> Timestamp { Timestamp(secondsSince1970: Int64(time(nil))) }
}
