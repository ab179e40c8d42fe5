import Database from "libsql";

/**
 * Connections that later streams use again. The native driver frees a connection only when the garbage collector has found its last
 * statement, so new connections for all requests would use up the file handles.
 */
export class ConnectionPool {
  readonly #path: string;
  readonly #idle: Database.Database[] = [];

  constructor(path: string) {
    this.#path = path;
  }

  take(): Database.Database {
    const idle = this.#idle.pop();
    if (idle) return idle;
    const connection = new Database(this.#path);
    connection.exec("pragma journal_mode = wal");
    return connection;
  }

  give(connection: Database.Database): void {
    this.#idle.push(connection);
  }

  close(): void {
    for (const connection of this.#idle.splice(0)) connection.close();
  }
}
