/** A message that was given to a consumer. */
export interface RabbitmqMessage {
  readonly deliveryTag: number;
  /** Parsed, if it was sent as JSON. */
  readonly body?: unknown;
}

/** The settings of a queue that is declared. */
export interface RabbitmqQueueSettings {
  readonly queue: string;
  readonly durable: true;
  readonly arguments: Readonly<Record<string, string | number>>;
}

/** The methods of a `Channel` of rabbitmq-client that are used. Described here and not imported, so that it is no dependency. */
export interface RabbitmqChannel {
  readonly active: boolean;
  queueDeclare(settings: RabbitmqQueueSettings): Promise<unknown>;
  basicQos(settings: { readonly prefetchCount: number }): Promise<void>;
  basicConsume(
    settings: { readonly queue: string },
    receive: (message: RabbitmqMessage) => void,
  ): Promise<{ readonly consumerTag: string }>;
  basicCancel(settings: { readonly consumerTag: string }): Promise<unknown>;
  basicAck(settings: { readonly deliveryTag: number }): void;
  basicNack(settings: { readonly deliveryTag: number; readonly requeue: boolean }): void;
  on(event: "error", listener: (error: unknown) => void): unknown;
  on(event: "close" | "basic.cancel", listener: () => void): unknown;
  close(): Promise<void>;
}

/** What a publisher declares before it sends, and again after the connection was lost. */
export interface RabbitmqTopology {
  readonly queues: RabbitmqQueueSettings[];
  readonly exchanges?: { readonly exchange: string; readonly type: "topic"; readonly durable: true }[];
  readonly queueBindings?: { readonly exchange: string; readonly queue: string; readonly routingKey: string }[];
  readonly exchangeBindings?: { readonly source: string; readonly destination: string; readonly routingKey: string }[];
}

/** The methods of a publisher of rabbitmq-client that are used. */
export interface RabbitmqPublisher {
  send(envelope: { readonly exchange: string; readonly routingKey: string; readonly durable: true }, body: object): Promise<void>;
  close(): Promise<void>;
}

/** The methods of a `Connection` of rabbitmq-client that are used. */
export interface RabbitmqConnection {
  acquire(options: { readonly emitErrorsFromChannel: true }): Promise<RabbitmqChannel>;
  createPublisher(options: RabbitmqTopology & { readonly confirm: true }): RabbitmqPublisher;
}
