/** Whether decisions are carried out, or only told. */
export type Mode = 'DryRun' | 'Enforce';
