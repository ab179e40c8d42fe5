import type { Event } from "stepfold";
import { complain, say } from "../output.ts";
import { workLog } from "../session/work-log.ts";
import { paintFor } from "../text/paint.ts";
import type { DevToken } from "./dev-token.ts";

/** What is said at the start. */
interface DevStart {
  readonly url: string;
  readonly token: DevToken;
  readonly store: string;
  readonly written: readonly string[];
  readonly readyMs: number;
}

/** What `stepfold dev` prints. */
export interface DevLog {
  starts(start: DevStart): void;
  event(workflowId: string, event: Event): void;
  problem(workflowId: string | null, error: unknown): void;
  /** Something about the process or the files. */
  note(text: string): void;
  warn(text: string): void;
}

/** Makes the log: for people, or with `json` an object on each line. */
export function devLog(json: boolean): DevLog {
  const { event, problem } = workLog(json);
  const paint = paintFor(process.stdout);
  const line = (type: string, members: object): void => say(`${JSON.stringify({ type, ...members })}\n`);
  return {
    event,
    problem,
    starts({ url, token, store, written, readyMs }) {
      const studio = `${url}/#t=${token.text}`;
      if (json) return line("ready", { url: studio, api: `${url}/v1`, store, written });
      const row = (name: string, text: string): void => say(`  ${paint("quiet", name.padEnd(7))}${text}\n`);
      if (written.length > 0) row("wrote", written.join("  "));
      row("store", store);
      row("Studio", `${studio}   (with the token)`);
      row("API", `${url}/v1${token.path === null ? "" : `   (the token is in ${token.path})`}`);
      say(`  ready in ${(readyMs / 1_000).toFixed(1)} s; Ctrl+C ends it, the same command goes on\n`);
    },
    note: (text) => (json ? line("note", { text }) : say(`${paint("quiet", text)}\n`)),
    warn: (text) => (json ? line("warning", { text }) : complain(`${text}\n`)),
  };
}
