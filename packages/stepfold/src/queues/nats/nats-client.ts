/** The members of a JetStream message that are used. */
export interface NatsMessage {
  readonly data: Uint8Array;
  /** When the server stored the message. */
  readonly time: Date;
  ack(): void;
  /** Gives the message back; it is delivered again after the delay. */
  nak(delayMs?: number): void;
  /** Prolongs the lease of the message. */
  working(): void;
}

/** The messages of one request. The iteration ends when all have come, when the time of the request is over, or when it is closed. */
export interface NatsMessages extends AsyncIterable<NatsMessage> {
  close(): Promise<unknown>;
}

/** The methods of a pull consumer that are used. */
export interface NatsConsumer {
  fetch(options: { readonly max_messages: number; readonly expires: number }): Promise<NatsMessages>;
}

/** The settings of the stream that is created. */
export interface NatsStreamSettings {
  readonly name: string;
  readonly subjects: string[];
  readonly retention: "workqueue";
  readonly storage: "file";
  readonly num_replicas: number;
}

/** The settings of the consumer that is created. Times are in nanoseconds. */
export interface NatsConsumerSettings {
  readonly durable_name: string;
  readonly ack_policy: "explicit";
  readonly ack_wait: number;
  readonly max_deliver: -1;
  readonly max_ack_pending: -1;
}

/** The methods of a `JetStreamManager` that are used. Described here and not imported, so that @nats-io/jetstream is no dependency. */
export interface NatsJetStream {
  readonly streams: {
    info(stream: string): Promise<unknown>;
    add(settings: NatsStreamSettings): Promise<unknown>;
  };
  readonly consumers: {
    info(stream: string, consumer: string): Promise<{ readonly config: { readonly ack_wait?: number } }>;
    add(stream: string, settings: NatsConsumerSettings): Promise<unknown>;
    update(stream: string, consumer: string, settings: { readonly ack_wait: number }): Promise<unknown>;
  };
  jetstream(): {
    publish(subject: string, data: string): Promise<unknown>;
    readonly consumers: { get(stream: string, consumer: string): Promise<NatsConsumer> };
  };
}
