import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { TransactionQuery } from "../../ports/transaction-query.ts";
import type { PostgresClient } from "./postgres-client.ts";

/** A connection that is ours until we release it. */
interface Session extends PostgresClient {
  /** True: it is not to be used again. */
  release(destroy?: boolean): void;
  on(event: "error", listener: () => void): unknown;
  off(event: "error", listener: () => void): unknown;
}

/** A client that gives connections out: a `Pool` of pg, or one made after it. */
interface SessionPool extends PostgresClient {
  connect(): Promise<Session>;
}

/** True for what can hold several statements together. A lone `Client` cannot: others send theirs over it meanwhile. */
export function isPool(client: PostgresClient): client is SessionPool {
  const { connect, totalCount } = client as { connect?: unknown; totalCount?: unknown };
  return typeof connect === "function" && typeof totalCount === "number";
}

/** Makes several statements one transaction. What `work` rejects with undoes all of them. */
export async function inTransaction<T>(pool: SessionPool, work: (query: TransactionQuery) => Promise<T>): Promise<T> {
  const session = await pool.connect();
  // the statement that is under way, or the next one, tells what became of the connection
  const heard = (): void => undefined;
  session.on("error", heard);
  let isBroken = false;
  try {
    await session.query("BEGIN ISOLATION LEVEL READ COMMITTED");
    const value = await work((text, values = []) => session.query(text, [...values]));
    checkCommitted(await session.query("COMMIT"));
    return value;
  } catch (cause) {
    await session.query("ROLLBACK").catch(() => {
      isBroken = true;
    });
    throw cause;
  } finally {
    session.off("error", heard);
    session.release(isBroken);
  }
}

/** A transaction in which a statement failed is undone by COMMIT, which says so and does not fail. */
function checkCommitted(result: object): void {
  const { command = "COMMIT" } = result as { command?: unknown };
  if (command === "COMMIT") return;
  const reason = "the transaction was undone, because a statement in it had failed and nobody said so";
  throw new StepfoldError("STORE_REJECTED", { store: "postgres", reason });
}
