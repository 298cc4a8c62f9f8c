/** The choices of `spec.reclaim` of the queue root. None is a boolean of YAML, such as `Off`, which the API server refuses. */
export const RECLAIM_CHOICES = {
  mode: ['Disabled', 'DryRun', 'Enforce'],
  by: ['Guarantees', 'Shares'],
  overuse: ['Keep', 'Evict'],
  replacements: ['First', 'InTurn'],
} as const;

/** Whether and how queues take room back. */
export type ReclaimSettings = {
  readonly [Field in keyof typeof RECLAIM_CHOICES]: (typeof RECLAIM_CHOICES)[Field][number];
};

/** As it is written, in texts. */
export type WrittenReclaim = { readonly [Field in keyof ReclaimSettings]?: string | undefined };

/** Without a queue root, or with one that says nothing about reclaim. */
export const DEFAULT_RECLAIM: ReclaimSettings = {
  mode: 'DryRun',
  by: 'Guarantees',
  overuse: 'Keep',
  replacements: 'First',
};

const FIELDS = Object.keys(RECLAIM_CHOICES) as readonly (keyof ReclaimSettings)[];

/**
 * The settings in force. A text that is none of the choices, such as one of a later version, means the default, and then
 * no pod is evicted by rules that are not those written.
 */
export function reclaimSettings(written: WrittenReclaim = {}): ReclaimSettings {
  const unreadable = unreadableFields(written);
  const read = FIELDS.filter((field) => written[field] !== undefined && !unreadable.includes(field));
  const settings = { ...DEFAULT_RECLAIM, ...Object.fromEntries(read.map((field) => [field, written[field]])) };
  const isCapped = unreadable.length > 0 && settings.mode === 'Enforce';
  return isCapped ? { ...settings, mode: 'DryRun' } : settings;
}

/** `reclaimSettings` of what an object says, which may be anything. */
export function reclaimInForce(said: unknown): ReclaimSettings {
  const fields = (said ?? {}) as Readonly<Record<string, unknown>>;
  const written = FIELDS.flatMap((field): [string, string][] => {
    const value = fields[field];
    return typeof value === 'string' && value !== '' ? [[field, value]] : [];
  });
  return reclaimSettings(Object.fromEntries(written));
}

/** What is wrong with them, as sentences. */
export function reclaimFaults(written: WrittenReclaim): readonly string[] {
  return unreadableFields(written).map(
    (field) =>
      `reclaim.${field} must be ${RECLAIM_CHOICES[field].join(' or ')}; got "${written[field] ?? ''}", using ${DEFAULT_RECLAIM[field]}, and no pod is evicted`,
  );
}

function unreadableFields(written: WrittenReclaim): readonly (keyof ReclaimSettings)[] {
  const isKnown = (field: keyof ReclaimSettings, value: string): boolean =>
    RECLAIM_CHOICES[field].some((choice) => choice === value);
  return FIELDS.filter((field) => written[field] !== undefined && !isKnown(field, written[field]));
}
