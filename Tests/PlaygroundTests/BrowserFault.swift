/// Why a browser could not be driven.
struct BrowserFault: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}
