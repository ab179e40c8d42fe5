import { queueContractOf } from "../testing/queue-contract.fixture.ts";
import { rabbitmqBench, url } from "./rabbitmq-bench.fixture.ts";

queueContractOf("rabbitmq", { over: "RabbitMQ, quorum queues", url, atOnce: 6, bench: async () => rabbitmqBench("quorum") });
