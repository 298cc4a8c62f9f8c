/** Tells the story: each line with the time since the start in front. */
export interface Narrator {
  say(text: string): void;
  /** A line without time, for what stands around the story. */
  print(text: string): void;
}

const TIME_WIDTH = 6;

/** `monotonic` is in milliseconds; `write` gets whole lines. */
export function createNarrator(monotonic: () => number, write: (line: string) => void): Narrator {
  const startedAt = monotonic();
  return {
    say(text) {
      const seconds = ((monotonic() - startedAt) / 1000).toFixed(1);
      write(`${seconds.padStart(TIME_WIDTH)} s  ${text}\n`);
    },
    print: (text) => write(`${text}\n`),
  };
}

/** Bytes as people read them here: whole MiB. */
export function mebibytes(bytes: number): string {
  return `${Math.round(bytes / 1024 / 1024)}Mi`;
}
