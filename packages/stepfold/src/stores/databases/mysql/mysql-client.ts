import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import { requireMethods } from "../../../core/values/check-arguments.ts";
import { refuseOption } from "../../kit/refuse-option.ts";

/** The part of a `mysql2/promise` pool that the store uses, declared here so that Stepfold depends on no driver. */
export interface MysqlPool {
  getConnection(): Promise<MysqlConnection>;
}

/** The part of a connection of such a pool that the store uses. */
export interface MysqlConnection {
  /** Runs a prepared statement, so that values never become part of its text. */
  execute(statement: MysqlStatement): Promise<readonly unknown[]>;
  /** Runs a statement without values. */
  query(sql: string): Promise<readonly unknown[]>;
  release(): void;
  destroy(): void;
}

/** The part of a connection that the store uses inside a transaction of its user. */
export type MysqlOwnConnection = Pick<MysqlConnection, "execute" | "query">;

/** A statement and its values. The other fields fix how the driver returns rows, independent of the options of the pool. */
export interface MysqlStatement {
  readonly sql: string;
  readonly values: (string | Uint8Array | null)[];
  readonly rowsAsArray: true;
  readonly nestTables: false;
  readonly typeCast: (field: unknown, next: () => unknown) => unknown;
}

/** @throws StepfoldError `OPTION_INVALID` if `pool` is not a pool of `mysql2/promise` */
export function checkPool(pool: MysqlPool): void {
  requireMethods("pool", pool, 'a pool that was created with createPool of "mysql2/promise"', ["getConnection"]);
  refuseCallbacks(pool);
}

/** Returns a pool as it is, and a connection as a pool of one. @throws StepfoldError `OPTION_INVALID` if it is neither */
export function asPool(client: MysqlPool | MysqlOwnConnection): MysqlPool {
  if (typeof (client as { readonly getConnection?: unknown } | null)?.getConnection === "function") {
    checkPool(client as MysqlPool);
    return client as MysqlPool;
  }
  requireMethods("pool", client, 'a pool that was created with createPool of "mysql2/promise", or a connection', ["execute", "query"]);
  refuseCallbacks(client);
  return new OwnTransaction(client as MysqlOwnConnection);
}

function refuseCallbacks(client: object): void {
  const isOfCallbacks = typeof (client as { readonly promise?: unknown }).promise === "function";
  refuseOption(
    "pool",
    isOfCallbacks,
    'is a pool with callbacks: pass pool.promise(), or create the pool with createPool of "mysql2/promise"',
  );
}

/**
 * The connection of a transaction that its user has begun, as a pool of one: callers get it one after the other. Once the server has undone
 * the transaction, or does not answer, nobody gets it, because what is written then would not be a part of that transaction.
 */
export class OwnTransaction implements MysqlPool {
  readonly #connection: MysqlOwnConnection;
  #isChecked = false;
  #isLost = false;
  /** Resolves when the caller before has released the connection. */
  #turn: Promise<void> = Promise.resolve();

  constructor(connection: MysqlOwnConnection) {
    this.#connection = connection;
  }

  async getConnection(): Promise<MysqlConnection> {
    const before = this.#turn;
    let release = (): void => undefined;
    this.#turn = new Promise((resolve) => {
      release = resolve;
    });
    await before;
    try {
      await this.#requireOpen();
    } catch (cause) {
      release();
      throw cause;
    }
    const { execute, query } = this.#connection;
    const [ask, tell] = [execute.bind(this.#connection), query.bind(this.#connection)];
    return { execute: ask, query: tell, release, destroy: () => this.#lose(release) };
  }

  #lose(release: () => void): void {
    this.#isLost = true;
    release();
  }

  async #requireOpen(): Promise<void> {
    if (this.#isLost) throw refused("the server has undone the transaction, or does not answer: roll back, and begin anew");
    if (this.#isChecked) return;
    await this.#connection.query("SAVEPOINT stepfold");
    // without a transaction a savepoint ends with its own statement
    await this.#connection.query("RELEASE SAVEPOINT stepfold").catch((cause: unknown) => {
      throw refused("a connection is taken only inside a transaction: call beginTransaction() first, or pass the pool", cause);
    });
    this.#isChecked = true;
  }
}

function refused(reason: string, cause?: unknown): StepfoldError {
  return new StepfoldError("STORE_REJECTED", { store: "mysql", reason }, { cause });
}
