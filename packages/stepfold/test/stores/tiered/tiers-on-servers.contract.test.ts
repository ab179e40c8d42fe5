import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { serviceUrlOrSkip } from "../../../../../scripts/servers/service-url.ts";
import type { SnapshotStore } from "../../../src/ports/snapshot-store.ts";
import { redisStore } from "../../../src/stores/databases/redis/index.ts";
import { sqliteStore } from "../../../src/stores/databases/sqlite/index.ts";
import { tieredStore } from "../../../src/stores/wrappers/tiered/index.ts";
import { claimAndLoad } from "../../../src/testing/claim-and-load.ts";
import { stepCommit } from "../../../src/testing/index.ts";
import { dynamoBench, useTable } from "../dynamo/dynamo-bench.fixture.ts";
import { mysqlServer } from "../mysql/mysql-bench.fixture.ts";
import { benchesOver, poolOf } from "../postgres/postgres-bench.fixture.ts";
import { ownPrefixes } from "../redis/own-prefix.fixture.ts";
import { testFolder } from "../values/wrapped-bench.fixture.ts";
import { answer, check, crashing, ended, listed, waiting, write } from "./tiers.fixture.ts";

const folder = testFolder("tiers-on-servers");
const urls = {
  postgres: await serviceUrlOrSkip("postgres"),
  mariadb: await serviceUrlOrSkip("mariadb"),
  redis: await serviceUrlOrSkip("redis"),
  dynamodb: await serviceUrlOrSkip("dynamodb"),
};
const pool = poolOf(4);
const postgres = benchesOver(pool);
const mariadb = urls.mariadb === null ? null : await mysqlServer(urls.mariadb);
const redis = urls.redis === null ? null : ownPrefixes(urls.redis);
const table = useTable(urls.dynamodb);
afterAll(async () => {
  if (urls.postgres !== null) await postgres.drop();
  await pool.end();
  await mariadb?.close();
  await redis?.close();
});

let made = 0;
const stores: Record<keyof typeof urls, () => Promise<SnapshotStore>> = {
  postgres: async () => (await postgres.bench(++made)).store,
  mariadb: async () => (await mariadb!.bench()).store,
  redis: async () => redisStore(redis!.redis, { prefix: redis!.next() }),
  dynamodb: async () => (await dynamoBench(await table(), `tiers_${++made}`)).store,
};
const file = async (): Promise<SnapshotStore> => sqliteStore(join(folder, `${++made}.db`));

describe.each(Object.keys(urls) as (keyof typeof urls)[])("tiers on %s", (server) => {
  for (const tier of ["hot", "cold"] as const) {
    it.skipIf(urls[server] === null)(`as ${tier}: what waits moves, wherever moves broke off, and goes on`, async () => {
      const [hot, cold] = [await (tier === "hot" ? stores[server] : file)(), await (tier === "cold" ? stores[server] : file)()];
      const rule = { coldAfterMs: 0, now: () => Date.now() + 60_000 };
      const store = tieredStore({ hot, cold, ...rule });
      const executions = [waiting("a"), waiting("b"), ended("c")];
      for (const commits of executions) await write(store, commits);
      let moved = 0;
      for (let position = 0; moved < executions.length; position++) {
        const before = (await listed(hot)).length;
        const broken = crashing({ hot, cold }, position, "after");
        await tieredStore({ hot: broken.hot, cold: broken.cold, ...rule })
          .move()
          .catch(() => undefined);
        moved += before - (await listed(hot)).length;
        if (position % 5 === 0) await check(store, executions);
      }
      await check(store, executions);
      await answer(store, "a");
      const [claimed] = await claimAndLoad(store, { owner: "w", leaseMs: 60_000, limit: 5 });
      expect(claimed).toMatchObject({ claim: { workflowId: "a" }, snapshot: { version: 4 } });
      expect(await store.renew(claimed!.claim)).toMatchObject({ version: 4 });
      await store.commit(stepCommit(claimed!.snapshot, { fence: claimed!.claim.fence, status: "completed" }));
      await store.commit(stepCommit(executions[1]![2]!, { status: "cancelled" }));
      for (const id of ["a", "b", "c"]) await store.delete(id);
      expect([await listed(store), await listed(cold)]).toEqual([[], []]);
      await store.close();
    });
  }
});
