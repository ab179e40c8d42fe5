import { queueContractOf } from "../testing/queue-contract.fixture.ts";
import { rabbitmqBench, url } from "./rabbitmq-bench.fixture.ts";

queueContractOf("rabbitmq", { over: "RabbitMQ, classic queues", url, atOnce: 8, bench: async () => rabbitmqBench("classic") });
