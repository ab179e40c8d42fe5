import { dynamodb } from "./dynamodb.ts";
import { mariadb } from "./mariadb.ts";
import { nats } from "./nats.ts";
import { postgres } from "./postgres.ts";
import { rabbitmq } from "./rabbitmq.ts";
import { redis } from "./redis.ts";
import type { Service } from "./service.ts";
import { sqs } from "./sqs.ts";

export const allServices: readonly Service[] = [postgres, mariadb, redis, dynamodb, rabbitmq, nats, sqs];
