import { afterAll } from 'vitest';
import { removeFolders } from './run-plimsoll.ts';

// Here, as files that share a process load the other module once.
afterAll(removeFolders);
