#!/usr/bin/env node
// On the PATH under this name, it is what `kubectl postern` runs. The program knows by its name which commands to offer.
import './postern.mjs';
