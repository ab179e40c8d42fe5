import { createClient } from "stepfold/client";
import { newFolder, type Running, startCli } from "../cli.ts";

/** `stepfold dev` in a folder, as a user has it. */
export interface Served {
  readonly running: Running;
  readonly folder: string;
  /** Such as `http://127.0.0.1:40123`. */
  readonly url: string;
  readonly token: string;
  readonly port: number;
  readonly client: ReturnType<typeof createClient>;
  /** The address of Studio, with the token. */
  readonly studio: string;
}

/** Starts `stepfold dev` on a free port, or on the one of before, and waits until it serves. */
export async function startDev({
  folder = newFolder(),
  port = 0,
  args = [],
}: {
  folder?: string;
  port?: number;
  args?: readonly string[];
} = {}): Promise<Served> {
  const running = startCli(["dev", "--json", "--port", String(port), ...args], { cwd: folder });
  await running.saw('"type":"ready"');
  const [, url, token] = /"url":"([^"#]+)\/#t=([^"]+)"/.exec(running.stdout())!;
  const served = { running, folder, url: url!, token: token!, port: Number(new URL(url!).port) };
  return { ...served, client: createClient({ url: url!, token: token! }), studio: `${url}/#t=${token}` };
}
