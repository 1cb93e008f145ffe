// Shots takes pictures of the pages of `swarm web` with the system's Chromium, in light and
// dark:
//
//	go run ./.ci/shots ADDRESS DIR PATH...
//	go run ./.ci/shots -readme ADDRESS DIR NAME=PATH...
//	go run ./.ci/shots -terminal FILE < SCREEN
//
// ADDRESS is what `swarm web` has printed. The first form puts a picture of each PATH into
// DIR, on a desktop and on a phone. The second one makes those that the documents show, as
// NAME.png, in dark if NAME ends in -dark. The third one makes a picture of a terminal, whose screen
// `tmux capture-pane -ep` has printed.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

func main() {
	readme := flag.Bool("readme", false, "make the pictures that the documents show")
	terminal := flag.String("terminal", "", "make a picture of the screen on stdin, `FILE`")
	flag.Parse()
	if err := run(*readme, *terminal, flag.Args()); err != nil {
		fmt.Fprintf(os.Stderr, "shots: %v\n", err)
		os.Exit(1)
	}
}

func run(readme bool, terminal string, args []string) error {
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-component-update", true), chromedp.Flag("force-color-profile", "srgb"))
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	defer cancel()
	ctx, cancel = chromedp.NewContext(ctx)
	defer cancel()
	if terminal != "" {
		screen, err := io.ReadAll(os.Stdin)
		if err != nil {
			return err
		}
		return shootTerminal(ctx, string(screen), terminal)
	}
	if len(args) < 3 {
		return errors.New("usage: shots ADDRESS DIR PATH…")
	}
	base, _, _ := strings.Cut(args[0], "/?")
	if err := chromedp.Do(ctx, chromedp.Navigate(args[0])); err != nil {
		return err
	}
	if readme {
		return shootDocuments(ctx, base, args[1], args[2:])
	}
	for _, path := range args[2:] {
		name := strings.Trim(strings.NewReplacer("/", "-", "?", "-", "=", "-").Replace(path), "-")
		if name == "" {
			name = "list"
		}
		for _, scheme := range []string{"light", "dark"} {
			for size, view := range map[string][2]int64{"desktop": {1280, 800}, "phone": {390, 844}} {
				file := filepath.Join(args[1], name+"-"+scheme+"-"+size+".png")
				if err := shoot(ctx, base+path, scheme, view, false, file); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// shootDocuments makes the pictures that the documents show, each of which is named as
// NAME=PATH.
func shootDocuments(ctx context.Context, base, dir string, pictures []string) error {
	// Figures are measured while a page is open.
	if err := chromedp.Do(ctx, chromedp.Sleep(40*time.Second)); err != nil {
		return err
	}
	for _, picture := range pictures {
		name, path, ok := strings.Cut(picture, "=")
		if !ok {
			return fmt.Errorf("expected NAME=PATH, got %s", picture)
		}
		scheme := "light"
		if strings.HasSuffix(name, "-dark") {
			scheme = "dark"
		}
		if err := shoot(ctx, base+path, scheme, [2]int64{1240, 780}, true, filepath.Join(dir, name+".png")); err != nil {
			return err
		}
	}
	return nil
}

// shoot makes a picture of a page. fit says that it ends where the page does.
func shoot(ctx context.Context, address, scheme string, view [2]int64, fit bool, file string) error {
	err := chromedp.Do(ctx, media(scheme), chromedp.EmulateViewport(view[0], view[1]), chromedp.Navigate(address),
		chromedp.WaitReady("main"), chromedp.Sleep(time.Second)) // the stream fills the page
	if err != nil {
		return fmt.Errorf("%s: %w", address, err)
	}
	if fit {
		bottom, err := chromedp.Run(ctx, chromedp.Evaluate[float64](
			"Math.max(...[...document.querySelectorAll('main > *')].map((e) => e.getBoundingClientRect().bottom))"))
		if err == nil {
			err = chromedp.Do(ctx, chromedp.EmulateViewport(view[0], min(view[1], int64(bottom)+24)), chromedp.Sleep(300*time.Millisecond))
		}
		if err != nil {
			return fmt.Errorf("%s: %w", address, err)
		}
	}
	png, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err != nil {
		return fmt.Errorf("%s: %w", address, err)
	}
	return os.WriteFile(file, png, 0o644)
}

// media makes the page light or dark.
func media(scheme string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
		})
		return err
	})
}
