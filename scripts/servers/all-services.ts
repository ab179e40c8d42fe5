import { dynamodb } from "./dynamodb.ts";
import { mariadb } from "./mariadb.ts";
import { postgres } from "./postgres.ts";
import { redis } from "./redis.ts";
import type { Service } from "./service.ts";

export const allServices: readonly Service[] = [postgres, mariadb, redis, dynamodb];
