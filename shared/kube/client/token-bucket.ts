/** A bucket of actions that refills steadily; times are milliseconds of one monotonic clock. */
export interface TokenBucket {
  readonly tokens: number;
  readonly at: number;
}

export interface BucketSize {
  readonly burst: number;
  readonly refillMs: number;
}

/** A full bucket. */
export function fullBucket({ burst }: BucketSize, now: number): TokenBucket {
  return { tokens: burst, at: now };
}

/** The bucket after taking one token, or undefined if it is empty. */
export function takeToken(bucket: TokenBucket, { burst, refillMs }: BucketSize, now: number): TokenBucket | undefined {
  const tokens = Math.min(burst, bucket.tokens + (now - bucket.at) / refillMs);
  return tokens < 1 ? undefined : { tokens: tokens - 1, at: now };
}
