/** Whether decisions are enforced or only reported. */
export type Mode = 'DryRun' | 'Enforce';
