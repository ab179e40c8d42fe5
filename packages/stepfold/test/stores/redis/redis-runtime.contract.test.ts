import { afterAll, describe } from "vitest";
import { serviceUrlOrSkip } from "../../../../../scripts/servers/service-url.ts";
import { memoryQueue } from "../../../src/queues/memory/memory-queue.ts";
import { redisStore } from "../../../src/stores/databases/redis/index.ts";
import { mixedWorkers } from "../../runtime/deployments/mixed-workers.fixture.ts";
import { stricterCode } from "../../runtime/deployments/stricter-code.fixture.ts";
import { keptKeys } from "../../runtime/keys/kept-keys.fixture.ts";
import { ownPrefixes } from "./own-prefix.fixture.ts";

const url = await serviceUrlOrSkip("redis");
const own = url === null ? null : ownPrefixes(url);
afterAll(() => own?.close());

describe.skipIf(own === null)("on a server", () => {
  const open = async () => redisStore(own!.redis, { prefix: own!.next() });
  stricterCode("Redis", open);
  mixedWorkers("Redis", open);
  mixedWorkers("Redis", open, async () => memoryQueue());
  keptKeys("Redis", open);
});
