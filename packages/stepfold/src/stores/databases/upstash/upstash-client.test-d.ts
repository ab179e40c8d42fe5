import type { Redis } from "@upstash/redis";
import type { Redis as CloudflareRedis } from "@upstash/redis/cloudflare";
import { expectTypeOf } from "vitest";
import type { UpstashClient } from "./index.ts";

expectTypeOf<Redis>().toExtend<UpstashClient>();
expectTypeOf<CloudflareRedis>().toExtend<UpstashClient>();
