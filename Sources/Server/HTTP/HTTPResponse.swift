/// One whole reply.
///
/// `Content-Length`, `Transfer-Encoding` and `Date` belong to the transport, which drops them from `headers`. A header
/// that cannot be sent (a name that is no token, a value with a line break, an empty value) or a status outside 200–599
/// is a fault of the handler: the client gets an empty 500 rather than a reply with a part missing.
package struct HTTPResponse: Sendable {
  package var status: Int
  package var headers: [(name: String, value: String)]
  package var body: [UInt8]

  package init(status: Int, headers: [(name: String, value: String)] = [], body: [UInt8] = []) {
    self.status = status
    self.headers = headers
    self.body = body
  }
}
