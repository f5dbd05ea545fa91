import Base

/// What a server has beside the API of every server: in test mode the mock wallet and a page. A live server has nothing.
package final class ServerAdditions: Sendable {
  package static let none = ServerAdditions()

  /// Routes that `/openapi.json` lists.
  let groups: [RouteGroup]
  /// Component schemas that those refer to.
  let schemas: [JSON.Member]
  /// Routes that it does not list: files that only a page asks for.
  let pages: [Route]
  /// Ends what goes with the server, once that has stopped.
  let end: @Sendable () async -> Void

  private let document = Locked<[UInt8]?>(nil)

  package init(
    groups: [RouteGroup] = [], schemas: [JSON.Member] = [], pages: [Route] = [],
    end: @escaping @Sendable () async -> Void = {}
  ) {
    self.groups = groups
    self.schemas = schemas
    self.pages = pages
    self.end = end
  }

  /// `/openapi.json` of such a server, as it is served; made once.
  package var openAPI: [UInt8] {
    document.withLock { document in
      if let document { return document }
      let made = OpenAPIDocument.json(with: self).serialized()
      document = made
      return made
    }
  }
}
