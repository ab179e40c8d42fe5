import { serviceUrl } from "../../scripts/servers/service-url.ts";
import { postgresTarget } from "./postgres-target.ts";
import { sqliteTarget } from "./sqlite-target.ts";
import type { Target } from "./stored.ts";

/** The stores that a run can be made on; null if the server does not answer. */
export const targets: Readonly<Record<string, (folder: string) => Promise<Target | null>>> = {
  sqlite: sqliteTarget,
  async postgres() {
    const url = await serviceUrl("postgres");
    return url === null ? null : postgresTarget(url);
  },
};
