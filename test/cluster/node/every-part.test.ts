import { everyPartSuite } from './parts/every-part-suite.ts';

/** Longer on request: `PLIMSOLL_PARTS_MINUTES=10`. */
everyPartSuite(Number(process.env['PLIMSOLL_PARTS_MINUTES'] ?? '0.3'));
