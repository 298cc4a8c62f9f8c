// Command workload is what runs in the pods of a test node: one static program, so that an image is one file.
//
//	workload pause              waits until it is told to end
//	workload grow MIB PER_SEC   takes memory at that pace, page by page, then waits until it is told to end
//	workload spin AFTER_SEC     keeps every processor busy after a while, until it is told to end
//	workload stay MIB PER_SEC   the same, and does not end when it is told to: only when it is killed
//
// Each line it says begins with the time in milliseconds since 1970.
package main

import (
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"
	"time"
)

const (
	mebibyte = 1 << 20
	pageSize = 4096
	step     = 4 * mebibyte
)

func main() {
	ending := make(chan os.Signal, 1)
	signal.Notify(ending, syscall.SIGTERM, syscall.SIGINT)
	switch command := argument(1); command {
	case "pause":
	case "spin":
		go spin(number(2))
	case "grow", "stay":
		go grow(number(2)*mebibyte, number(3)*mebibyte)
	default:
		fail(fmt.Sprintf("unknown command %q: expected pause, spin, grow or stay", command))
	}
	say("told to end by %v", <-ending)
	for argument(1) == "stay" {
		say("told to end by %v", <-ending)
	}
}

func spin(afterSeconds int) {
	time.Sleep(time.Duration(afterSeconds) * time.Second)
	for range runtime.NumCPU() {
		go func() {
			for {
			}
		}()
	}
}

// grow takes total bytes at perSecond; steps that come late are made up for, so that the pace holds on a busy machine.
func grow(total, perSecond int) {
	start := time.Now()
	for taken := 0; taken < total; taken += step {
		due := start.Add(time.Duration(float64(taken) / float64(perSecond) * float64(time.Second)))
		time.Sleep(time.Until(due))
		take(step)
	}
	say("took %d bytes in %v", total, time.Since(start))
}

func take(bytes int) {
	memory, err := syscall.Mmap(-1, 0, bytes, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		fail(fmt.Sprintf("cannot take %d bytes: %v", bytes, err))
	}
	for at := 0; at < bytes; at += pageSize {
		memory[at] = 1
	}
}

func say(format string, values ...any) {
	fmt.Printf("%d %s\n", time.Now().UnixMilli(), fmt.Sprintf(format, values...))
}

func argument(index int) string {
	if index >= len(os.Args) {
		fail("usage: workload pause | spin AFTER_SEC | grow MIB PER_SEC | stay MIB PER_SEC")
	}
	return os.Args[index]
}

func number(index int) int {
	value, err := strconv.Atoi(argument(index))
	if err != nil || value <= 0 {
		fail(fmt.Sprintf("argument %d is %q: expected a number above 0", index, argument(index)))
	}
	return value
}

func fail(message string) {
	fmt.Fprintln(os.Stderr, "workload: "+message)
	os.Exit(2)
}
