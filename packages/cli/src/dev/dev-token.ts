import { createHash, randomBytes } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { allowedToken } from "./allowed-token.ts";

const path = join(".stepfold", "token");

/** The token of the server of `stepfold dev`, and its hash. */
export interface DevToken {
  readonly text: string;
  readonly sha256: string;
  /** The file that keeps it; null for one that was named. */
  readonly path: string | null;
}

/** Returns the token that was named, or that of this folder, which is made once and kept for the next start: 256 random bits. */
export function devToken(named: string | undefined): DevToken {
  const text = named === undefined ? ownToken() : allowedToken(named);
  return { text, sha256: createHash("sha256").update(text).digest("hex"), path: named === undefined ? path : null };
}

function ownToken(): string {
  const before = existsSync(path) ? readFileSync(path, "utf8").trim() : "";
  if (/^[\w-]{43}$/.test(before)) return before;
  const made = randomBytes(32).toString("base64url");
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${made}\n`, { mode: 0o600 });
  // the mode counts only for a new file
  chmodSync(path, 0o600);
  return made;
}
