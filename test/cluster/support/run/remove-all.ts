import { eventually } from '#test/build/waiting.ts';
const GONE_WITHIN_MS = 20_000;

/** Removes what is found until nothing is. Rejects when something does not go, with the last reason that was thrown. */
export async function removeAll<T>(find: () => readonly T[], remove: (each: T) => void): Promise<void> {
  await eventually(() => {
    const left = find();
    const reasons = left.map((each) => failureOf(() => remove(each)));
    if (left.length > 0) throw new Error(`cannot remove ${left.join(', ')}: ${reasons.join(' ')}`);
  }, GONE_WITHIN_MS);
}

function failureOf(act: () => void): string {
  try {
    act();
    return 'it does not go';
  } catch (error) {
    return String(error);
  }
}
