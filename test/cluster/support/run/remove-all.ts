const GONE_WITHIN_MS = 20_000;

/** Removes what is found until nothing is. Rejects when something does not go, with the last reason that was thrown. */
export async function removeAll<T>(find: () => readonly T[], remove: (each: T) => void): Promise<void> {
  const until = performance.now() + GONE_WITHIN_MS;
  for (let left = find(); left.length > 0; left = find()) {
    const reasons = left.map((each) => failureOf(() => remove(each)));
    if (performance.now() > until) throw new Error(`cannot remove ${left.join(', ')}: ${reasons.join(' ')}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

function failureOf(act: () => void): string {
  try {
    act();
    return 'it does not go';
  } catch (error) {
    return String(error);
  }
}
