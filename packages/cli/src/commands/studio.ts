import { cleanup } from "../cleanup.ts";
import { findConfig } from "../config/find-config.ts";
import { loadConfig } from "../config/load-config.ts";
import { listenAt, readAddress } from "../dev/dev-address.ts";
import { devLog } from "../dev/dev-log.ts";
import { devToken } from "../dev/dev-token.ts";
import { openBrowser, pagesServer } from "../dev/pages-server.ts";
import { exitCode } from "../exit-code.ts";
import { idleRuntime } from "../session/idle-runtime.ts";
import { listenForInterruption } from "../session/interruption.ts";
import { chooseDatabase, openExistingDatabase, openQuietly } from "../store/database.ts";

/** Options of `stepfold studio`. */
export interface StudioOptions {
  readonly store?: string;
  readonly config?: string;
  readonly port?: string;
  readonly host?: string;
  readonly token?: string;
  readonly open?: boolean;
  readonly json?: boolean;
}

/** `stepfold studio`: serves Studio and the API over a database, and runs nothing: workers do that. @returns the exit code */
export async function studio(options: StudioOptions): Promise<number> {
  const begunAtMs = performance.now();
  const address = readAddress(options);
  const log = devLog(options.json ?? false);
  // a config is code, so it is loaded only if it is named
  const config = options.config === undefined ? {} : await loadConfig(findConfig(options.config));
  const database = chooseDatabase(options.store);
  const closing = cleanup();
  const interruption = listenForInterruption(true);
  closing.add(interruption.stopListening);
  try {
    const store = await openExistingDatabase(database, openQuietly);
    closing.add(() => store.close());
    await store.list({ limit: 1 });
    const token = devToken(options.token);
    const runtime = idleRuntime(store, config);
    closing.add(() => runtime.close());
    const { url, close } = await listenAt(pagesServer({ runtime, store }, { address, token, log }), address);
    closing.add(close);
    log.starts({ url, token, store: database.name, written: [], readyMs: performance.now() - begunAtMs });
    if (options.open) openBrowser(`${url}/#t=${token.text}`);
    await interruption.asked;
    return exitCode.done;
  } finally {
    await closing.run();
  }
}
